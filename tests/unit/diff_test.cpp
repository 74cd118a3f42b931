// Runs compared: spreads compared with sorted lists, and invented runs with known changes.
#include "log-merger/diff/diff.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "log-merger/diff/diff_output.hpp"
#include "log-merger/summaries/sums.hpp"
#include "tests/unit/sample_runs.hpp"

namespace uctrace::diff {
namespace {

// A run of ranks that compute, meet in a barrier and send to their neighbours, `steps` times.
struct Invented {
  std::size_t ranks = 4, steps = 40;
  std::uint64_t seed = 1;
  std::uint64_t work_ns = 1'000'000, spread_ns = 100'000;
  int slow_rank = -1;  // works three times as long
  const char* transport = "sysv";
  const char* protocol = "eager/short";
  std::uint64_t bytes = 4096;

  Run make() const {
    Run run;
    run.run_id = "run" + std::to_string(seed);
    add_processes(run, ranks);
    Random random(seed);
    std::vector<std::int64_t> now(ranks, 0);
    for (std::size_t step = 0; step < steps; ++step) {
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const std::uint64_t work = work_ns * (std::cmp_equal(rank, slow_rank) ? 3 : 1);
        now[rank] += static_cast<std::int64_t>(work + below(random, spread_ns));
      }
      const std::int64_t last = *std::max_element(now.begin(), now.end());
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        add_call(run, "MPI_Barrier", rank, now[rank], last + 1000);
        if (now[rank] < last) add_wait(run, rank, last - now[rank]);
        now[rank] = last + 1000;
        add_message(run, rank, now[rank], random);
      }
    }
    run.last_ns = last_instant(run);
    lay_out_sums(run);
    return run;
  }

 private:
  static void add_call(Run& run, const char* function, std::size_t rank, std::int64_t from,
                       std::int64_t to) {
    MpiCallRow call;
    call.process = static_cast<std::uint32_t>(rank);
    call.function = run.texts.intern(function);
    call.t_start_ns = from;
    call.t_end_ns = to;
    run.mpi_calls.push_back(call);
  }
  static void add_wait(Run& run, std::size_t rank, std::int64_t ns) {
    Wait wait;
    wait.kind = WaitKind::wait_barrier;
    wait.process = static_cast<std::uint32_t>(rank);
    wait.ns = ns;
    run.waits.push_back(wait);
  }
  void add_message(Run& run, std::size_t rank, std::int64_t at, Random& random) const {
    Message message;
    message.src = message.src_process = static_cast<std::int32_t>(rank);
    message.dst = message.dst_process = static_cast<std::int32_t>((rank + 1) % ranks);
    message.protocol = run.texts.intern(protocol);
    message.mpi = run.texts.intern("MPI_Isend");
    message.bytes = bytes;
    message.t_start_ns = at;
    message.t_end_ns = at + 2000 + static_cast<std::int64_t>(below(random, 500));
    message.first_hop = static_cast<std::uint32_t>(run.hops.size());
    message.hops = 1;
    Hop hop;
    hop.message = static_cast<std::uint32_t>(run.messages.size());
    hop.transport = run.texts.intern(transport);
    hop.device = run.texts.intern("memory");
    hop.op = run.texts.intern("am_short");
    hop.count = 1;
    hop.payload_bytes = hop.wire_bytes = bytes;
    run.hops.push_back(hop);
    run.messages.push_back(message);
  }
};

Diff diff_of(const Invented& a, const Invented& b) {
  const Run run_a = a.make(), run_b = b.make();
  return compare(measures_of(run_a), measures_of(run_b));
}

const Change* find(const std::vector<Change>& changes, const Subject& subject) {
  const auto at = std::find_if(changes.begin(), changes.end(),
                               [&](const Change& change) { return change.subject == subject; });
  return at == changes.end() ? nullptr : &*at;
}

bool is_sorted(const std::vector<Change>& changes) {
  return std::is_sorted(changes.begin(), changes.end(),
                        [](const Change& x, const Change& y) { return x.share > y.share; });
}

TEST_SUITE("diff") {
  TEST_CASE("quantiles are those of a sorted list, to 1.6 %") {
    Random random(3);
    for (const std::uint64_t limit : {50ULL, 5'000ULL, 5'000'000'000ULL, 1ULL << 60}) {
      Spread spread;
      std::vector<std::uint64_t> all;
      for (int i = 0; i < 1000; ++i) {
        all.push_back(below(random, limit) >> below(random, 20));
        spread.add(all.back());
      }
      std::sort(all.begin(), all.end());
      for (const double share : {0.001, 0.25, 0.5, 0.75, 0.99, 1.0}) {
        const auto exact = static_cast<double>(
            all[static_cast<std::size_t>(std::ceil(share * static_cast<double>(all.size())) - 1)]);
        const auto found = static_cast<double>(spread.quantile_ns(share));
        CHECK(std::abs(found - exact) <= exact * 0.016);
        if (exact < 64) CHECK(found == exact);
      }
      CHECK(spread.count() == all.size());
    }
    CHECK(Spread().quantile_ns(0.5) == 0);
  }

  TEST_CASE("the same again is no change") {
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
      const Diff diff = diff_of({.seed = seed}, {.seed = seed + 100});
      CHECK(diff.changes.empty());
      CHECK(diff.settings.empty());
      CHECK(diff.notes.empty());
      CHECK(diff.equal > 0);
    }
    const Diff itself = diff_of({}, {});
    CHECK(itself.changes.empty());
    CHECK(itself.others.empty());
  }

  TEST_CASE("a slow rank is found, where it works and where others wait for it") {
    const Diff diff = diff_of({}, {.seed = 2, .slow_rank = 2});
    REQUIRE(!diff.changes.empty());
    CHECK(is_sorted(diff.changes));
    const Change* const slow = find(diff.changes, {"rank", "2", "time outside MPI"});
    REQUIRE(slow != nullptr);
    CHECK(slow->b > 2.5 * slow->a);
    CHECK(slow->each_b->middle_ns > 2.5 * slow->each_a->middle_ns);
    CHECK(find(diff.changes, {"rank", "1", "time outside MPI"}) == nullptr);
    CHECK(find(diff.changes, {"rank", "1", "time in MPI"}) != nullptr);
    CHECK(find(diff.changes, {"function", "MPI_Barrier", "time in it"}) != nullptr);
    CHECK(find(diff.changes, {"wait", "wait_barrier", "waiting"}) != nullptr);
    CHECK(find(diff.changes, {"transport", "sysv", "payload"}) == nullptr);
  }

  TEST_CASE("another transport carries everything") {
    const Diff diff = diff_of({}, {.seed = 2, .transport = "tcp"});
    REQUIRE(diff.changes.size() >= 4);
    const Change* const tcp = find(diff.changes, {"transport", "tcp", "payload"});
    REQUIRE(tcp != nullptr);
    CHECK(tcp->a == 0);
    CHECK(tcp->b == 4 * 40 * 4096);
    CHECK(tcp->share == 1);
    CHECK(find(diff.changes, {"device", "sysv/memory", "payload"})->b == 0);
    CHECK(find(diff.changes, {"protocol", "eager/short", "payload"}) == nullptr);
  }

  TEST_CASE(
      "twice the payload: by the function that asked, and by pair, however many ranks there are") {
    for (const std::size_t ranks : {4U, 300U}) {
      const Diff diff = diff_of({.ranks = ranks, .steps = 9},
                                {.ranks = ranks, .steps = 9, .seed = 2, .bytes = 8192});
      const Change* const function = find(diff.changes, {"function", "MPI_Isend", "payload"});
      REQUIRE(function != nullptr);
      CHECK(function->a == static_cast<double>(ranks * 9 * 4096));
      CHECK(function->b == 2 * function->a);
      CHECK(diff.notes.empty());
      const auto is_pair = [](const Change& change) {
        return change.subject.of == "pair" && change.subject.measure == "payload";
      };
      const auto pairs = std::count_if(diff.changes.begin(), diff.changes.end(), is_pair) +
                         std::count_if(diff.others.begin(), diff.others.end(), is_pair);
      CHECK(pairs == static_cast<std::ptrdiff_t>(ranks));
    }
  }

  TEST_CASE("another protocol, whatever sums there are") {
    Run a = Invented{}.make(), b = Invented{.seed = 2, .protocol = "rndv/get/zcopy"}.make();
    const Diff of_sums = compare(measures_of(a), measures_of(b));
    a.messages_are_summed = b.messages_are_summed = false;
    const Diff of_rows = compare(measures_of(a), measures_of(b));
    REQUIRE(of_sums.changes.size() == of_rows.changes.size());
    for (std::size_t i = 0; i < of_sums.changes.size(); ++i) {
      CHECK(of_sums.changes[i].subject == of_rows.changes[i].subject);
      CHECK(of_sums.changes[i].b == of_rows.changes[i].b);
    }
    CHECK(find(of_sums.changes, {"protocol", "rndv/get/zcopy", "messages"})->b == 160);
  }

  TEST_CASE("runs of different numbers of ranks: by rank, and said") {
    const Diff diff = diff_of({.ranks = 2}, {.ranks = 8, .seed = 2, .transport = "tcp"});
    CHECK(!diff.same_ranks);
    REQUIRE(diff.notes.size() == 1);
    CHECK(diff.notes.front().find("2 ranks against 8") != std::string::npos);
    const Change* const tcp = find(diff.changes, {"transport", "tcp", "payload"});
    REQUIRE(tcp != nullptr);
    CHECK(tcp->unit == DiffUnit::percent);
    CHECK(tcp->b == doctest::Approx(100));
    for (const auto* list : {&diff.changes, &diff.others}) {
      for (const Change& change : *list) {
        CHECK(change.subject.of != "rank");
        CHECK(change.subject.of != "pair");
      }
    }
    CHECK(find(diff.changes, {"all ranks", "", "time outside MPI"}) == nullptr);
  }

  TEST_CASE("too few calls tell no spread") {
    const Diff diff = diff_of({.steps = 4}, {.steps = 4, .seed = 2, .slow_rank = 1});
    const Change* const slow = find(diff.others, {"rank", "1", "time outside MPI"});
    REQUIRE(slow != nullptr);
    CHECK(slow->verdict == ChangeVerdict::not_told);
  }

  TEST_CASE("what was recorded in one run only is not compared") {
    Run a = Invented{}.make(), b = Invented{.seed = 2}.make();
    b.mpi_calls.clear();
    b.waits.clear();
    const Diff diff = compare(measures_of(a), measures_of(b));
    REQUIRE(diff.notes.size() == 1);
    CHECK(diff.notes.front() == "calls of MPI were recorded in A only, and not compared");
    for (const Change& change : diff.changes) CHECK(change.subject.of != "function");
  }

  TEST_CASE("the three forms say the same") {
    const Run a = Invented{}.make(), b = Invented{.seed = 2, .transport = "tcp"}.make();
    const RunMeasures of_a = measures_of(a), of_b = measures_of(b);
    const Diff diff = compare(of_a, of_b);
    const ComparedRuns runs{of_a, of_b, "before", "after"};
    std::ostringstream json, csv, text;
    write_diff(json, runs, diff, {.format = Format::json});
    const auto told = nlohmann::ordered_json::parse(json.str());
    CHECK(told["run"] == "run1");
    CHECK(told["other_run"] == "run2");
    CHECK(told["changes"].size() == diff.changes.size());
    CHECK(told["changes"][0]["share"] == diff.changes[0].share);
    CHECK(told["protocols"][0]["a"]["messages"] == 160);
    write_diff(csv, runs, diff, {.format = Format::csv});
    const std::string lines = csv.str();
    CHECK(std::count(lines.begin(), lines.end(), '\n') ==
          static_cast<std::ptrdiff_t>(1 + diff.changes.size() + diff.others.size()));
    write_diff(text, runs, diff, {.width = 80});
    std::istringstream in(text.str());
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with('#')) CHECK(line.size() <= 80);
    }
    CHECK(text.str().find("transport tcp: payload") != std::string::npos);
  }
}

}  // namespace
}  // namespace uctrace::diff

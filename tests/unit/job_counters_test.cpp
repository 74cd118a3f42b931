// Sums that never decrease, compared with naively added increments.
#include "log-merger/live/job_counters.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "log-merger/live/metric_families.hpp"
#include "tests/unit/counting_job.hpp"

namespace uctrace::live {
namespace {

using log::CounterClass;
using log::CounterKind;
using log::CounterTotal;
using test::Job;
using test::kAll;
using test::kRanks;
using test::to_peer;
using test::to_rank;
using Number = unsigned __int128;

// {series: value} of the text, of those that must never go down.
std::map<std::string, std::string> sums_in(const JobCounters& counters) {
  std::map<std::string, std::string> sums;
  std::istringstream text(metrics_text(metric_families({&counters}), MetricFormat::classic));
  for (std::string line; std::getline(text, line);) {
    const std::string series = line.substr(0, line.rfind(' '));
    const std::string name = series.substr(0, series.find('{'));
    const bool is_sum = name.ends_with("_total") || name.ends_with("_bucket") ||
                        name.ends_with("_sum") || name.ends_with("_count");
    if (line.starts_with('#') || !is_sum) continue;
    if (!sums.emplace(series, line.substr(series.size() + 1)).second) FAIL(series);
  }
  return sums;
}

bool is_less(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

// Nor away. One check for all of them: there are very many.
void check_nothing_went_down(const std::map<std::string, std::string>& before,
                             const std::map<std::string, std::string>& now) {
  std::string wrong;
  for (const auto& [series, value] : before) {
    const auto found = now.find(series);
    if (found == now.end() || is_less(found->second, value)) wrong = series;
  }
  REQUIRE(wrong == "");
}

ExactTotal all_of(const LimitedSeries<CountedPair>& pairs) {
  ExactTotal sum;
  for (const auto* part : {&pairs.told(), &pairs.rest()}) {
    for (const auto& [pair, total] : *part) sum += total;
  }
  return sum;
}

TEST_CASE("sums of a job are those of its increments: across 2^64, older states, lost processes") {
  std::mt19937_64 random(3);
  Job job;
  for (int i = 0; i < 4; ++i) job.add(i, static_cast<std::uint64_t>(i));
  JobCounters counters(kAll);
  std::map<CountedPair, ExactTotal> expected;
  std::vector<CounterRows> truth(4);
  std::map<std::string, std::string> before;
  std::uint64_t next_number = 4;
  for (int round = 0; round < 2000; ++round) {
    const auto i = static_cast<std::size_t>(random() % truth.size());
    log::CounterSnapshot& process = job.reading.now[i];
    for (std::uint64_t changes = random() % 3; changes > 0; --changes) {
      const auto peer = static_cast<std::int32_t>(random() % 2);
      const auto kind = static_cast<CounterKind>(1 + random() % 2);
      const bool is_huge = random() % 4 == 0;
      const CounterTotal came = {1 + random() % 100, is_huge ? random() >> 3 : random() % 4096};
      truth[i][to_rank(kind, random() % 2 ? 8 : 0, peer)] += came;
      expected[{static_cast<CounterClass>(static_cast<int>(kind) - 1), process.rank(), peer}] +=
          came;
    }
    const CounterRows older = process.rows;
    // A copy may be older than the previous one; what it lacks appears again later.
    process.rows = random() % 5 == 0 ? older : truth[i];
    if (random() % 7 == 0) {
      for (auto& [key, total] : process.rows)
        total.bytes -= std::min<std::uint64_t>(total.bytes, 9);
    }
    if (random() % 100 == 0) {  // another program replaces it: the previous process has ended
      process.rows = truth[i];
      counters.take(job.reading);
      truth[i].clear();
      process.rows.clear();
      job.reading.processes[i].number = next_number++;
    }
    counters.take(job.reading);
    const auto now = sums_in(counters);
    check_nothing_went_down(before, now);
    before = now;
  }
  for (std::size_t i = 0; i < truth.size(); ++i) job.reading.now[i].rows = truth[i];
  counters.take(job.reading);
  CHECK(counters.pairs().told() == expected);
  CHECK(counters.pairs().rest().empty());
  bool is_beyond_64_bits = false;
  for (const auto& [pair, total] : expected) is_beyond_64_bits |= total.bytes >> 64 != 0;
  CHECK(is_beyond_64_bits);
}

TEST_CASE("names and ranks that come late: nothing goes down, and in the end all are as counted") {
  std::mt19937_64 random(8);
  for (int run = 0; run < 20; ++run) {
    Job job;
    for (int i = 0; i < kRanks; ++i) job.add(-1, static_cast<std::uint64_t>(i));
    JobCounters counters(kAll);
    std::map<std::string, std::string> before;
    for (int round = 0; round < 60; ++round) {
      const auto i = static_cast<std::size_t>(random() % kRanks);
      log::CounterSnapshot& process = job.reading.now[i];
      const auto peer = static_cast<std::uint32_t>(random() % kRanks);
      if (random() % 8 == 0 || round >= 55) process.page.world_rank = static_cast<std::int32_t>(i);
      if (random() % 8 == 0) process.peers[peer] = 1000 + peer;
      process.rows[to_peer(peer)] += {1, 8};
      process.rows[to_rank(CounterKind::external, 8, static_cast<std::int32_t>(peer))] += {2, 16};
      const auto number = static_cast<std::uint32_t>(random() % 3);
      process.rows[log::counter_key(CounterKind::mpi_function, 0, number)] += {1, 0};
      if (random() % 4 == 0) process.functions[number] = "MPI_" + std::to_string(number);
      counters.take(job.reading);
      const auto now = sums_in(counters);
      check_nothing_went_down(before, now);
      before = now;
    }
    const ExactTotal in_between = all_of(counters.pairs());
    ExactTotal waiting;
    for (const ExactTotal& total : counters.waiting()) waiting += total;
    CHECK(in_between.messages + waiting.messages == 60 * 3);
    CHECK(in_between.bytes + waiting.bytes == 60 * 24);
    for (std::size_t i = 0; i < kRanks; ++i) {
      log::CounterSnapshot& process = job.reading.now[i];
      process.page.world_rank = static_cast<std::int32_t>(i);
      for (std::uint32_t peer = 0; peer < kRanks; ++peer) process.peers[peer] = 1000 + peer;
      for (std::uint32_t n = 0; n < 3; ++n) process.functions[n] = "MPI_" + std::to_string(n);
    }
    counters.take(job.reading);
    check_nothing_went_down(before, sums_in(counters));
    const log::CountedSides sides(job.reading.now);
    const log::CounterMatrix matrix = log::matrix_of(job.reading.now, sides);
    std::size_t pairs = 0;
    for (const CounterClass which : {CounterClass::external, CounterClass::internal}) {
      for (const auto& [pair, cell] : matrix.of(which)) {
        const ExactTotal& told =
            counters.pairs().told().at({which, pair.first.rank, pair.second.rank});
        CHECK(told.messages == cell.total.messages);
        CHECK(told.bytes == cell.total.bytes);
        ++pairs;
      }
    }
    CHECK(pairs == counters.pairs().told().size());
    CHECK(counters.waiting() == JobCounters::ByClass{});
    for (const auto& [labels, total] : counters.functions().told()) {
      CHECK(labels.front().starts_with("MPI_"));
    }
  }
}

TEST_CASE("data of a GPU waits for the GPU's name, or for the end of its process") {
  Job job;
  log::CounterSnapshot& process = job.add(0, 0);
  const auto row = [&](std::uint64_t subject) -> CounterTotal& {
    return process.rows[log::counter_key(CounterKind::gpu, 4, subject)];
  };
  row(3) = {2, 20};
  row(3 | log::kDataReceived | log::kManagedMemory) = {1, 10};
  row(4 | log::kDataReceived) = {7, 70};
  row(0) = {5, 50};
  JobCounters counters(kAll);
  counters.take(job.reading);
  using Told = std::map<CountedLabels, ExactTotal>;
  Told expected = {{{"", "unknown", "unknown", "unknown", "sent"}, {5, 50}}};
  CHECK(counters.gpus().told() == expected);
  process.gpus[3] = {.vendor = log::Vendor::cuda,
                     .facts = {.uuid = {0xab}, .gpu_uuid = {0xab}, .pci = {1, 0x10, 2, 3}}};
  counters.take(job.reading);
  const std::string gpu = "GPU-ab000000-0000-0000-0000-000000000000", bus = "0001:10:02.3";
  expected[{"", gpu, bus, "gpu", "sent"}] = {2, 20};
  expected[{"", gpu, bus, "managed", "received"}] = {1, 10};
  CHECK(counters.gpus().told() == expected);
  job.reading.processes[0].state = ProcessState::killed;
  counters.take(job.reading);
  expected[{"", "#4", "unknown", "gpu", "received"}] = {7, 70};
  CHECK(counters.gpus().told() == expected);
}

TEST_CASE("who will get no rank or name any more is told as unknown, or by its number") {
  Job job;
  log::CounterSnapshot& process = job.add(0, 0);
  process.rows[to_peer(9)] = {3, 30};
  process.rows[log::counter_key(CounterKind::external, 1, log::kUnknownPeer)] = {1, 1};
  process.rows[log::counter_key(CounterKind::interface, 0, 7)] = {5, 50};
  process.rows[log::counter_key(CounterKind::one_to_all, 0, 4)] = {2, 20};
  JobCounters counters(kAll);
  counters.take(job.reading);
  const CountedPair unknown = {CounterClass::external, 0, CountedPair::kNobody};
  CHECK(counters.pairs().told() == std::map<CountedPair, ExactTotal>{{unknown, {1, 1}}});
  CHECK(counters.waiting()[1] == ExactTotal{3, 30});
  CHECK(counters.transports().told().empty());
  job.reading.processes[0].state = ProcessState::killed;
  counters.take(job.reading);
  CHECK(counters.pairs().told().at({CounterClass::internal, 0, CountedPair::kNobody}) ==
        ExactTotal{3, 30});
  CHECK(counters.transports().told().begin()->first.front() == "#7");
  CHECK(counters.communicators().told().begin()->first ==
        CountedLabels{"unnamed", "unknown", "one-to-all"});
  CHECK(counters.processes_in(ProcessState::killed) == 1);
}

TEST_CASE("what a collective call means for each member is each pair's") {
  Job job;
  log::CounterSnapshot& process = job.add(1, 0);
  process.communicators[2] = {
      .size = 3, .members_known = true, .runs = {{0, 1, 3, 0}}, .label = "c"};
  process.rows[log::counter_key(CounterKind::collective_each, 0, 2)] = {2, 20};
  process.rows[log::counter_key(CounterKind::all_to_all, 0, 2)] = {2, 40};
  JobCounters counters(kAll);
  counters.take(job.reading);
  CHECK(counters.pairs().told() ==
        std::map<CountedPair, ExactTotal>{{{CounterClass::collective, 1, 0}, {2, 20}},
                                          {{CounterClass::collective, 1, 2}, {2, 20}}});
  CHECK(counters.communicators().told() ==
        std::map<CountedLabels, ExactTotal>{{{"c", "3", "all-to-all"}, {2, 40}}});
}

TEST_CASE("a limit: what is told stays, the greatest first, and nothing is lost") {
  std::mt19937_64 random(4);
  for (const std::size_t most : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{40}}) {
    Job job;
    for (int i = 0; i < kRanks; ++i) job.add(i, static_cast<std::uint64_t>(i));
    JobCounters counters(most);
    ExactTotal expected;
    std::set<CountedPair> met;
    std::map<std::string, std::string> before;
    for (int round = 0; round < 200; ++round) {
      for (std::uint64_t changes = random() % 4; changes > 0; --changes) {
        const auto i = static_cast<std::size_t>(random() % kRanks);
        const auto peer = static_cast<std::int32_t>(random() % 8);
        const auto kind = static_cast<CounterKind>(1 + random() % 2);
        const CounterTotal came = {1, 1 + random() % 1000};
        job.reading.now[i].rows[to_rank(kind, 8, peer)] += came;
        expected += came;
        met.insert({static_cast<CounterClass>(static_cast<int>(kind) - 1),
                    static_cast<std::int32_t>(i), peer});
      }
      counters.take(job.reading);
      CHECK(counters.pairs().told().size() == std::min(most, met.size()));
      CHECK(counters.pairs().left_out() == met.size() - counters.pairs().told().size());
      CHECK(counters.pairs().rest().size() <= 2);  // one of each class
      CHECK(all_of(counters.pairs()) == expected);
      const auto now = sums_in(counters);
      check_nothing_went_down(before, now);
      before = now;
    }
  }
  Job job;
  for (int i = 0; i < kRanks; ++i) {
    job.add(i, static_cast<std::uint64_t>(i)).rows[to_rank(CounterKind::external, 8, 0)] = {
        1, static_cast<std::uint64_t>(100 + i)};
  }
  JobCounters counters(1);
  counters.take(job.reading);
  CHECK(counters.pairs().told().begin()->first.rank == kRanks - 1);
  CHECK(sums_in(counters).at("uctrace_payload_bytes_total{job_id=\"job\",class=\"external\","
                             "rank=\"other\",peer=\"other\"}") == "406");
}

TEST_CASE("a program may name what it likes as the rest is named") {
  LimitedSeries<CountedLabels> series(
      10, [](const CountedLabels& labels) { return CountedLabels(labels.size(), kOtherLabel); });
  series.add({"other"}, {1, 2});
  series.add({"mine"}, {1, 1});
  series.settle();
  series.add({"other"}, {1, 2});
  series.settle();
  CHECK(series.told() == std::map<CountedLabels, ExactTotal>{{{"mine"}, {1, 1}}});
  CHECK(series.rest() == std::map<CountedLabels, ExactTotal>{{{"other"}, {2, 4}}});
}

TEST_CASE("sizes: each bucket has all messages up to its bound") {
  std::mt19937_64 random(6);
  Job job;
  log::CounterSnapshot& process = job.add(0, 0);
  std::vector<std::uint64_t> sizes = {0,          1,         2, 3, 4, 7, 8, (1ull << 40) - 1,
                                      1ull << 40, 1ull << 63};
  for (int i = 0; i < 500; ++i) sizes.push_back(random() >> (random() % 64));
  for (const std::uint64_t size : sizes) {
    process.rows[to_rank(CounterKind::internal, size, 3)] += {1, size};
  }
  JobCounters counters(kAll);
  counters.take(job.reading);
  const auto text = sums_in(counters);
  const std::string labels = "{job_id=\"job\",class=\"internal\"";
  std::size_t buckets = 0;
  for (const auto& [series, value] : text) {
    const std::string start = "uctrace_message_size_bytes_bucket" + labels + ",le=\"";
    if (!series.starts_with(start) || series.starts_with(start + "+Inf")) continue;
    const std::uint64_t most = std::stoull(series.substr(start.size()));
    CHECK(series == start + std::to_string(most) + ".0\"}");
    CHECK(value == std::to_string(std::count_if(sizes.begin(), sizes.end(),
                                                [most](auto size) { return size <= most; })));
    ++buckets;
  }
  CHECK(buckets == 41);
  const std::string count = std::to_string(sizes.size());
  CHECK(text.at("uctrace_message_size_bytes_bucket" + labels + ",le=\"+Inf\"}") == count);
  CHECK(text.at("uctrace_message_size_bytes_count" + labels + "}") == count);
  // 2^64 and more in one row come back to 0 there: what a file holds is what is shown.
  Number held = 0;
  for (const auto& [key, total] : process.rows) held += total.bytes;
  const auto& of_class = counters.sizes().at(CounterClass::internal);
  CHECK(of_class.total.bytes == held);
  CHECK(of_class.total.messages == sizes.size());
}

TEST_CASE("another job begins anew") {
  Job first;
  first.add(0, 0).rows[to_rank(CounterKind::external, 8, 1)] = {5, 40};
  JobCounters counters(kAll);
  CHECK(!counters.has_job());
  CHECK(metric_families({&counters}).empty());
  counters.take(first.reading);
  CHECK(counters.job() == "job");
  Job second;
  second.add(0, 1).rows[to_rank(CounterKind::external, 8, 1)] = {1, 8};
  second.name("next");
  counters.take(second.reading);
  CHECK(counters.job() == "next");
  CHECK(all_of(counters.pairs()) == ExactTotal{1, 8});
}

}  // namespace
}  // namespace uctrace::live

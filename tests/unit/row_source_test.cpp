// Rows from a store, a part at a time, compared with the same rows in memory; and the output about
// them.
#include "log-merger/row-source/row_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "event-log/reader/error.hpp"
#include "log-merger/page-data/page_data.hpp"
#include "log-merger/reports/comms.hpp"
#include "log-merger/reports/messages_output.hpp"
#include "log-merger/reports/report.hpp"
#include "log-merger/store/store.hpp"
#include "log-merger/summaries/facets.hpp"
#include "tests/unit/sample_runs.hpp"
#include "tests/unit/store_files.hpp"
#include "tests/unit/stored_runs.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace uctrace {

namespace fs = std::filesystem;

namespace {

// A run whose messages and hops lie in several chunks of the store.
Run long_run() {
  Run run = RandomRun(11).make({30, 50});
  std::mt19937_64 random(12);
  const std::vector<Message> messages = std::exchange(run.messages, {});
  const std::vector<Hop> hops = std::exchange(run.hops, {});
  for (std::size_t i = 0; i < 100'000; ++i) {
    Message& message = run.messages.emplace_back(messages[random() % messages.size()]);
    message.bytes = i;
    message.first_hop = static_cast<std::uint32_t>(run.hops.size());
    message.hops = static_cast<std::uint32_t>(random() % 4);
    for (std::uint32_t h = 0; h < message.hops; ++h) {
      run.hops.push_back(hops[random() % hops.size()]);
      run.hops.back().count = run.hops.size();
    }
  }
  return run;
}

RowSource open_source(const fs::path& path) {
  StoredRun run = *open_store(path);
  return {std::move(run.head), std::move(run.readers)};
}

template <typename Row>
std::vector<Row> all_rows(const RowSource& source) {
  std::vector<Row> rows;
  for_each_row(source, Wanted<Row>::all(), [&](const Row& row, std::size_t number) {
    REQUIRE(number == rows.size());
    rows.push_back(row);
  });
  return rows;
}

// Everything that the verbs print of a run.
std::string told(const RowSource& source, const FilterSpec& spec) {
  std::ostringstream out;
  const Filter filter(source, spec);
  for (const Format format : {Format::table, Format::csv, Format::json, Format::ndjson}) {
    for (const std::optional<std::size_t> limit : {std::optional<std::size_t>(), {0}, {3}}) {
      write_messages(out, source, filter, {.format = format, .limit = limit});
    }
    for (const ReportBy by : {ReportBy::contenders, ReportBy::mpi, ReportBy::pairs,
                              ReportBy::call_sites, ReportBy::gpu_nic}) {
      try {
        write_report(out, source, filter,
                     {.by = by, .format = format, .without_message = WithoutMessage::counted});
      } catch (const Error& error) {
        out << error.message();  // a filter that hides all call sites is refused
      }
    }
    for (const CommsBy by : {CommsBy::comm, CommsBy::kind, CommsBy::rank, CommsBy::bucket,
                             CommsBy::time, CommsBy::call_site, CommsBy::transport}) {
      CommsOptions options;
      options.by = {by, CommsBy::op};
      options.format = format;
      write_comms(out, source, {}, options);
    }
  }
  write_messages(out, source, filter,
                 {.detail = Detail::full, .ids = std::vector<MessageId>{7, 0, 7}});
  write_report(out, source, filter, {});
  return out.str();
}

std::string refusal(const RowSource& source, const FilterSpec& spec) {
  try {
    const Filter filter(source, spec);
  } catch (const Error& error) {
    return error.message();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a member that is stored as a difference can be read alone") {
  const test::TemporaryFolder folder;
  const Run run = RandomRun(8).make({10, 40});
  save_store(run, folder / "a.h5");
  const RowSource source = open_source(folder / "a.h5");
  for_each_row<Hop>(source, {&Hop::wire_bytes}, [&](const Hop& hop, std::size_t i) {
    CHECK(hop.wire_bytes == run.hops[i].wire_bytes);
  });
  for_each_row<Transfer>(source, {&Transfer::t_complete_ns},
                         [&](const Transfer& row, std::size_t i) {
                           CHECK(row.t_complete_ns == run.transfers[i].t_complete_ns);
                         });
}

TEST_CASE("rows of a store are those that were saved, in parts and by their numbers") {
  const test::TemporaryFolder folder;
  const Run run = long_run();
  save_store(run, folder / "a.h5");
  const RowSource source = open_source(folder / "a.h5");
  CHECK(source.run().messages.empty());
  CHECK(source.run().processes.size() == run.processes.size());
  check_same(all_rows<Message>(source), run.messages);
  check_same(all_rows<Hop>(source), run.hops);
  check_same(all_rows<Transfer>(source), run.transfers);
  check_same(all_rows<UcpOperationRow>(source), run.ucp_operations);
  check_same(all_rows<MpiCallRow>(source), run.mpi_calls);
  check_same(all_rows<WaitShare>(source), run.wait_shares);

  std::size_t next = 0;
  for_each_message(source, {&Message::bytes}, {&Hop::count},
                   [&](const Message& message, std::span<const Hop> path, std::size_t number) {
                     REQUIRE(number == next++);
                     REQUIRE(message.bytes == number);
                     REQUIRE(path.size() == run.messages[number].hops);
                     for (const Hop& hop : path) {
                       REQUIRE(hop.count == run.hops[message.first_hop + (&hop - &path[0])].count);
                     }
                   });
  CHECK(next == run.messages.size());

  std::mt19937_64 random(13);
  RowWindow<Hop> window(source, {&Hop::count});
  for (int round = 0; round < 200; ++round) {
    const std::size_t first = random() % run.hops.size();
    const std::size_t count = std::min<std::size_t>(random() % 40'000, run.hops.size() - first);
    const std::span<const Hop> rows = window.rows(first, count);
    REQUIRE(rows.size() == count);
    for (const std::size_t i : {std::size_t{0}, count / 2, count - 1}) {
      if (i < count) REQUIRE(rows[i].count == run.hops[first + i].count);
    }
  }
}

TEST_CASE("a walk ends where the visitor has enough") {
  const Run run = random_run(1);
  std::size_t seen = 0;
  for_each_row<Message>(run, {}, [&](const Message&, std::size_t) { return ++seen < 7; });
  CHECK(seen == 7);
}

TEST_CASE("only the columns that are asked for are read, and checked") {
  const test::TemporaryFolder folder;
  Run run = RandomRun(14).make({20, 20});
  run.messages[3].comm = 1000;
  run.messages[4] = {.first_hop = 20, .hops = 1};
  save_store(run, folder / "a.h5");
  const RowSource source = open_source(folder / "a.h5");
  std::uint64_t bytes = 0, expected = 0;
  for_each_row<Message>(source, {&Message::bytes},
                        [&](const Message& message, std::size_t) { bytes += message.bytes; });
  for (const Message& message : run.messages) expected += message.bytes;
  CHECK(bytes == expected);
  const auto refused = [&](const Wanted<Message>& wanted, const char* why) {
    CHECK_THROWS_WITH_AS(for_each_row(source, wanted, [](const Message&, std::size_t) {}),
                         doctest::Contains(why), UnreadableStore);
  };
  refused({&Message::comm}, "checking messages/comm failed (it points outside of its table)");
  refused({&Message::first_hop, &Message::hops},
          "checking messages/first_hop failed (it points outside of its table)");
  CHECK_THROWS_AS(load_store(folder / "a.h5"), UnreadableStore);
}

TEST_CASE("of a store that is changed while it is open, no row is of the other run") {
  const test::TemporaryFolder folder;
  Run run = random_run(3);
  for (Message& message : run.messages) message.bytes = 5;
  save_store(run, folder / "a.h5");
  for (Message& message : run.messages) message.bytes = 6;
  save_store(run, folder / "b.h5");
  const std::string other = bytes_of(folder / "b.h5");
  // As it is for a store that is not quite new: clocks of files may stand still for some
  // milliseconds.
  std::filesystem::last_write_time(folder / "a.h5", std::filesystem::file_time_type());

  const auto sum = [](const RowSource& source) {
    std::uint64_t bytes = 0;
    for_each_row<Message>(source, {&Message::bytes},
                          [&](const Message& message, std::size_t) { bytes += message.bytes; });
    return bytes;
  };
  const RowSource overwritten = open_source(folder / "a.h5");
  std::fstream(folder / "a.h5", std::ios::in | std::ios::out | std::ios::binary) << other;
  CHECK_THROWS_WITH_AS(sum(overwritten), doctest::Contains("it was changed after it was opened"),
                       UnreadableStore);

  // Whoever has it open keeps what a new file replaces, or what is removed.
  const RowSource kept = open_source(folder / "a.h5");
  for (Message& message : run.messages) message.bytes = 7;
  save_store(run, folder / "a.h5");
  CHECK(sum(kept) == 6 * run.messages.size());
  std::filesystem::remove(folder / "a.h5");
  CHECK(sum(kept) == 6 * run.messages.size());
}

TEST_CASE("what is told of a store is what is told of the run in memory") {
  const test::TemporaryFolder folder;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Run run = seed == 3 ? RandomRun(seed).make({8, 60}) : random_run(seed);
    run.info_json = "{}";
    run.last_ns = last_instant(run);
    std::sort(run.wait_shares.begin(), run.wait_shares.end(),
              [](const WaitShare& a, const WaitShare& b) { return a.call < b.call; });
    for (const bool keeps_facets : {false, true}) {
      run.facets = keeps_facets ? find_facets(run) : std::vector<Facet>();
      save_store(run, folder / "a.h5");
      const RowSource source = open_source(folder / "a.h5");
      for (const PageOptions& options : {PageOptions{}, PageOptions{10, {}, 3}}) {
        const bool same_page = page_data(source, options) == page_data(run, options);
        CHECK(same_page);
      }
      std::vector<FilterSpec> specs(5);
      specs[1].transport = {run.texts[run.hops[0].transport]};
      specs[2].mpi = {run.texts[run.messages[1].mpi]};
      specs[2].min_bytes = 1000;
      specs[3].src = {"0", "unknown"};
      specs[3].role = {"data", "staging"};
      specs[4].from_ns = 10;
      for (FilterSpec& spec : specs) {
        for (std::string& name : spec.mpi) name = name.empty() ? "unknown" : name;
        const std::string refused = refusal(run, spec);
        CHECK(refusal(source, spec) == refused);
        const bool same = refused != "accepted" || told(source, spec) == told(run, spec);
        CHECK(same);
      }
    }
  }
}

TEST_CASE("facets are the values that rows have") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Run run = seed == 3 ? RandomRun(seed).make({40, 60}) : random_run(seed);
    std::set<Facet> expected;
    const auto add = [&](FacetOf of, TextId text) { expected.insert({of, text, -1, -1}); };
    for (const Message& message : run.messages) {
      add(FacetOf::mpi, message.mpi);
      add(FacetOf::comm, message.comm);
      add(FacetOf::protocol, message.protocol);
      expected.insert({FacetOf::source, kNoText, message.src, message.src_process});
      expected.insert({FacetOf::destination, kNoText, message.dst, message.dst_process});
    }
    for (const MpiCallRow& call : run.mpi_calls) {
      add(FacetOf::called, call.function);
      add(FacetOf::comm, call.comm);
    }
    for (const Hop& hop : run.hops) {
      add(FacetOf::transport, hop.transport);
      add(FacetOf::op, hop.op);
    }
    for (const Transfer& transfer : run.transfers) {
      add(FacetOf::transport, transfer.transport);
      add(FacetOf::op, transfer.op);
      if (transfer.message < 0 && transfer.peer_process < 0) {
        expected.insert({FacetOf::destination, kNoText, -1, -1});
      }
    }
    run.facets.clear();
    CHECK(find_facets(run) == std::vector<Facet>(expected.begin(), expected.end()));

    FilterSpec wrong;
    wrong.mpi = {"no such function"};
    const std::string counted = refusal(run, wrong);
    run.facets = find_facets(run);
    run.messages.clear();  // what is kept is what counts
    run.mpi_calls.clear();
    CHECK(refusal(run, wrong) == counted);
  }
}

}  // namespace uctrace

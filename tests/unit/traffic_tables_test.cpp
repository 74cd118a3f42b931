// The tables of traffic over time that a run keeps, compared with its rows: the page made from
// either is the same, and with the tables only the rows listed singly are read.
#include "log-merger/summaries/traffic_tables.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "event-log/reader/error.hpp"
#include "log-merger/page-data/page_data.hpp"
#include "log-merger/store/store.hpp"
#include "log-merger/summaries/sums.hpp"
#include "tests/unit/temporary_folder.hpp"
#include "tests/unit/timed_run.hpp"

namespace uctrace {
namespace {

constexpr KeepTraffic kInAnyCase{.least_rows = 0, .rows_of_row = 0};

class Nobody final : public RowVisitor {
 public:
  void visit(const Message&, std::size_t) override {}
  void visit(const Transfer&, std::size_t) override {}
  void visit(const UcpOperationRow&, std::size_t) override {}
  void visit(const MpiCallRow&, std::size_t) override {}
};

// With ends that are not known, and rows that have no time at all.
Run whole_run(std::uint64_t seed) {
  Run run = timed_run(seed);
  Random random(seed + 1000);
  for (MpiCallRow& call : run.mpi_calls) {
    if (below(random, 10) == 0) call.t_end_ns = -1;
    if (below(random, 20) == 0) call.t_start_ns = call.t_end_ns = -1;
  }
  for (Message& message : run.messages) {
    if (below(random, 10) == 0) message.t_posted_recv_ns = message.t_end_ns;
    if (below(random, 10) == 0) message.t_start_ns = -1;
    if (below(random, 30) == 0) message.t_end_ns = -1;
  }
  run.last_ns = last_instant(run);
  return run;
}

// Of each process so many MPI calls, one after the other; the first ones of all processes overlap.
Run long_run(std::size_t processes, std::size_t calls) {
  Run run;
  run.info_json = "{}";
  add_processes(run, processes);
  Random random(processes);
  for (std::uint32_t process = 0; process < processes; ++process) {
    std::int64_t start_ns = process;
    for (std::size_t i = 0; i < calls; ++i) {
      MpiCallRow& call = run.mpi_calls.emplace_back();
      call.process = process;
      call.function = any_of(run, random, kFunctions);
      call.t_start_ns = start_ns += static_cast<std::int64_t>(below(random, 100));
      call.t_end_ns = start_ns + static_cast<std::int64_t>(below(random, 100));
    }
  }
  run.last_ns = last_instant(run);
  return run;
}

RowSource opened(const std::filesystem::path& path) {
  StoredRun run = *open_store(path);
  return {std::move(run.head), std::move(run.readers)};
}

}  // namespace

TEST_CASE("the page of what a run keeps is the page of its rows") {
  const test::TemporaryFolder folder;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    CAPTURE(seed);
    const Run rows = whole_run(seed);
    Run kept = rows;
    lay_out_traffic(kept, kInAnyCase);
    REQUIRE(has_traffic(kept));
    save_store(kept, folder / "a.h5");
    const RowSource stored = opened(folder / "a.h5");
    for (const std::uint64_t limit : {0U, 1U, 5U, 100U, 399U, 100'000U}) {
      const nlohmann::ordered_json expected = page_data(rows, {.limit = limit});
      CHECK(page_data(kept, {.limit = limit}) == expected);
      CHECK(page_data(stored, {.limit = limit}) == expected);
    }
    const PageOptions part{.from_ns = 200'000, .to_ns = 700'000, .limit = 50};
    CHECK(page_data(stored, part) == page_data(rows, part));
  }
}

TEST_CASE("of rows in several blocks the same ones are chosen") {
  const Run rows = long_run(3, 2 * kRowsAtOnce);
  Run kept = rows;
  lay_out_traffic(kept, kInAnyCase);
  REQUIRE(has_traffic(kept));
  CHECK(kept.row_blocks.size() == 6);
  for (const std::uint64_t limit : {0U, 1000U, 20'000U, 90'000U, 1'000'000U}) {
    CHECK(page_data(kept, {.limit = limit}) == page_data(rows, {.limit = limit}));
  }
}

TEST_CASE("blocks of rows that overlap are refused") {
  Run run = long_run(3, 2 * kRowsAtOnce);
  lay_out_traffic(run, kInAnyCase);
  run.row_blocks[1].first_row = run.row_blocks[0].first_row;
  CHECK_THROWS_WITH_AS(page_data(run, {.limit = 10}), doctest::Contains("overlap"), Error);
}

TEST_CASE("rows that begin after what is told one by one are not read") {
  Run run = long_run(3, 4 * kRowsAtOnce);
  lay_out_traffic(run, kInAnyCase);
  lay_out_sums(run);  // as merge() does; the call sites of the page are summed from it
  REQUIRE(run.calls_are_summed);
  const PageOptions few{.limit = 1000};
  const nlohmann::ordered_json expected = page_data(run, few);
  std::size_t changed = 0;
  for (const RowBlock& block : run.row_blocks) {
    if (block.first_start_ns < run.last_ns / 2) continue;
    for (std::uint64_t i = 0; i < block.rows; ++i) {
      MpiCallRow& call = run.mpi_calls[block.first_row + i];
      call.t_start_ns = 0;  // would be chosen if it was read
      ++changed;
    }
  }
  CHECK(changed >= 3 * kRowsAtOnce);
  CHECK(page_data(run, few) == expected);
}

TEST_CASE("what a run keeps adds up to its rows, in slabs of any length") {
  using Total = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Run run = whole_run(seed);
    const TimeWindow window = whole_window(run.last_ns);
    Nobody nobody;
    const TrafficTables fine = count_traffic(run, window, nobody);
    std::uint64_t messages = 0, bytes = 0;
    for (const TrafficCell& cell : fine.cells.cells) {
      messages += cell.messages;
      bytes += cell.bytes;
    }
    CHECK(messages == static_cast<std::uint64_t>(std::count_if(
                          run.messages.begin(), run.messages.end(),
                          [&](const Message& message) { return window.takes(time_of(message)); })));
    for (const Message& message : run.messages) {
      if (window.takes(time_of(message))) bytes -= message.bytes;
    }
    CHECK(bytes == 0);
    for (const std::size_t budget : {std::size_t{700}, std::size_t{1}}) {
      const TrafficTables coarse = count_traffic(run, window, nobody, budget);
      const std::uint32_t times = fine.slabs.axis.slabs / coarse.slabs.axis.slabs;
      REQUIRE(times > 1);
      REQUIRE(coarse.slabs.axis.slab_ns == times * fine.slabs.axis.slab_ns);
      std::map<std::pair<std::uint32_t, std::uint32_t>, Total> expected, found;
      const auto add = [](auto& sums, std::uint32_t slab, const TotalSlab& row) {
        auto& [count, payload, wire] = sums[{slab, row.total}];
        count += row.count;
        payload += row.payload_bytes;
        wire += row.wire_bytes;
      };
      for (const TotalSlab& row : fine.slabs.total_slabs) add(expected, row.slab / times, row);
      for (const TotalSlab& row : coarse.slabs.total_slabs) add(found, row.slab, row);
      CHECK(found == expected);
      std::map<std::tuple<ActivityLayer, std::uint32_t, std::int32_t, std::uint32_t>,
               std::pair<std::int64_t, std::uint64_t>>
          busy_expected, busy_found;
      const auto add_busy = [](auto& sums, std::uint32_t coarser, const SlabActivity& row) {
        const std::int32_t key = std::max({row.call_group, row.cell, row.total});
        for (std::uint32_t slab = row.slab; slab < row.slab + row.length; ++slab) {
          auto& [busy, starts] = sums[{row.layer, row.process, key, slab / coarser}];
          busy += row.busy_ns;
          starts += row.starts;
        }
      };
      for (const SlabActivity& row : fine.slabs.slab_activity) add_busy(busy_expected, times, row);
      for (const SlabActivity& row : coarse.slabs.slab_activity) add_busy(busy_found, 1, row);
      CHECK(busy_found == busy_expected);
    }
  }
}

TEST_CASE("of a short run, and where it is as long as the rows, it is not kept") {
  Run run = whole_run(1);
  for (const KeepTraffic& keep : {KeepTraffic{}, KeepTraffic{.least_rows = 0, .rows_of_row = 1}}) {
    lay_out_traffic(run, keep);
    CHECK_FALSE(has_traffic(run));
    CHECK(run.cells.empty());
    CHECK(run.row_blocks.empty());
  }
  lay_out_traffic(run, kInAnyCase);
  CHECK(has_traffic(run));
}

}  // namespace uctrace

// Tiles of a page against the page that has all operations in itself: each of its rows is in
// exactly the tiles that it overlaps.
#include "log-merger/page-data/page_tiles.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "log-merger/page-data/page_data.hpp"
#include "log-merger/page-data/tile_plan.hpp"
#include "log-merger/store/store.hpp"
#include "log-merger/summaries/traffic_tables.hpp"
#include "tests/unit/page_tables.hpp"
#include "tests/unit/temporary_folder.hpp"
#include "tests/unit/timed_run.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

constexpr const char* kOperationTables[] = {"mpi_calls", "ucp_operations", "transfers", "messages"};

// Calls and messages that never ended, calls that are not in the order of time, and waits.
Run run_with_waits(std::uint64_t seed) {
  Run run = timed_run(seed);
  Random random(seed + 7);
  for (MpiCallRow& call : run.mpi_calls) {
    if (below(random, 30) == 0) call.t_end_ns = -1;
  }
  for (Message& message : run.messages) {
    if (below(random, 10) == 0) message.t_end_ns = -1;
  }
  for (std::size_t i = 0; i < run.mpi_calls.size(); ++i) {
    const MpiCallRow& call = run.mpi_calls[i];
    if (call.t_end_ns < 0 || below(random, 2) == 0) continue;
    Wait wait;
    wait.process = call.process;
    wait.call = static_cast<std::int64_t>(i);
    wait.t_start_ns = call.t_start_ns;
    wait.ns = (call.t_end_ns - call.t_start_ns) / 2;
    wait.unknown_ns = static_cast<std::int64_t>(below(random, 5));
    wait.unknown = wait.unknown_ns > 0 ? WaitUnknown::below_clock_bound : WaitUnknown::none;
    run.waits.push_back(wait);
  }
  run.last_ns = last_instant(run);
  return run;
}

struct Made {
  ordered_json page;
  std::map<std::size_t, std::string> scripts;

  PageTables tables(std::size_t tile) const {
    const std::string& script = scripts.at(tile);
    const std::string before = "uctraceTile(", behind = ");\n";
    REQUIRE(script.starts_with(before));
    REQUIRE(script.ends_with(behind));
    const auto told = ordered_json::parse(
        script.substr(before.size(), script.size() - before.size() - behind.size()));
    CHECK(told["schema"] == kPageSchema);
    CHECK(told["run"] == page["run"]["id"]);
    CHECK(told["tile"] == tile);
    CHECK(told["packed"]["adler32"] == page["tiles"]["adler32"][tile]);
    return unpack(told["packed"]);
  }
  // In time, [first, second).
  std::pair<std::int64_t, std::int64_t> span(std::size_t tile) const {
    const ordered_json &from = page["tiles"]["from_ns"], &time = page["time"];
    const auto end_of_axis =
        time["from_ns"].get<std::int64_t>() +
        time["slab_ns"].get<std::int64_t>() * time["slabs"].get<std::int64_t>();
    return {from[tile], tile + 1 < from.size() ? from[tile + 1].get<std::int64_t>() : end_of_axis};
  }
};

Made made_of(const RowSource& source, std::uint64_t operations, std::uint64_t memory_bytes,
             std::size_t threads = 1, PageOptions page = {}) {
  Made made;
  std::mutex mutex;
  TileOptions& tiles = page.tiles.emplace();
  tiles.operations = operations;
  tiles.memory_bytes = memory_bytes;
  tiles.workers = Workers(threads);
  tiles.write = [&](std::size_t number, const std::string& script) {
    const std::lock_guard lock(mutex);
    CHECK(made.scripts.emplace(number, script).second);
  };
  std::size_t told = 0;
  tiles.progress = [&](std::size_t written, std::size_t) { CHECK(written == ++told); };
  made.page = page_data(source, page);
  CHECK(told == made.scripts.size());
  return made;
}

// Of the page with all operations, the rows of a table that overlap a span.
std::vector<std::size_t> rows_within(const PageTables& all, const std::string& name,
                                     std::pair<std::int64_t, std::int64_t> span) {
  const PageColumn &start = all.at(name).at("start_ns"), &duration = all.at(name).at("duration_ns");
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < start.size(); ++row) {
    const std::int64_t open = name == "messages" ? start[row] : INT64_MAX;
    const std::int64_t end = duration[row] == -1 ? open : start[row] + std::max(duration[row], 0L);
    if (start[row] < span.second && end >= span.first) rows.push_back(row);
  }
  return rows;
}

PageColumn chosen(const PageColumn& column, const std::vector<std::size_t>& rows) {
  PageColumn values;
  for (const std::size_t row : rows) values.push_back(column[row]);
  return values;
}

void check_hops(const PageTables& all, const PageTables& tile,
                const std::vector<std::size_t>& messages) {
  const PageColumn& counts = all.at("messages").at("hops");
  std::vector<std::size_t> first(counts.size()), hops;
  for (std::size_t row = 1; row < counts.size(); ++row) {
    first[row] = first[row - 1] + static_cast<std::size_t>(counts[row - 1]);
  }
  for (const std::size_t row : messages) {
    for (std::int64_t hop = 0; hop < counts[row]; ++hop) {
      hops.push_back(first[row] + static_cast<std::size_t>(hop));
    }
  }
  for (const auto& [name, column] : all.at("hops")) {
    CHECK(tile.at("hops").at(name) == chosen(column, hops));
  }
}

void check_waits(const PageTables& all, const PageTables& tile,
                 const std::vector<std::size_t>& calls) {
  std::map<std::int64_t, std::int64_t> place;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    place[static_cast<std::int64_t>(calls[i])] = static_cast<std::int64_t>(i);
  }
  std::vector<std::size_t> rows;
  PageColumn of;
  for (std::size_t row = 0; row < all.at("waits").at("call").size(); ++row) {
    const auto found = place.find(all.at("waits").at("call")[row]);
    if (found == place.end()) continue;
    rows.push_back(row);
    of.push_back(found->second);
  }
  for (const auto& [name, column] : all.at("waits")) {
    CHECK(tile.at("waits").at(name) == (name == "call" ? of : chosen(column, rows)));
  }
}

void check_tiles(const Made& made, const PageTables& all, std::uint64_t most) {
  const ordered_json& tiles = made.page["tiles"];
  const std::size_t count = tiles["from_ns"].size();
  REQUIRE(count == made.scripts.size());
  CHECK(tiles["from_ns"][0] == made.page["time"]["from_ns"]);
  for (std::size_t tile = 0; tile < count; ++tile) {
    const PageTables own = made.tables(tile);
    const auto span = made.span(tile);
    std::uint64_t operations = 0, begun_before = 0;
    std::int64_t first = INT64_MAX, last = 0;  // that begins in the tile
    for (const std::string name : kOperationTables) {
      const auto rows = rows_within(all, name, span);
      operations += rows.size();
      const PageColumn starts = chosen(all.at(name).at("start_ns"), rows);
      for (const std::int64_t start : starts) {
        begun_before += start < span.first;
        if (start < span.first) continue;
        first = std::min(first, start);
        last = std::max(last, start);
      }
      for (const auto& [column, values] : all.at(name)) {
        CHECK(own.at(name).at(column) == chosen(values, rows));
      }
    }
    check_hops(all, own, rows_within(all, "messages", span));
    check_waits(all, own, rows_within(all, "mpi_calls", span));
    CHECK(tiles["operations"][tile] == operations);
    const bool in_one_step = last <= first + kDuration / TilePlan::kSteps;
    CHECK((operations <= std::max(most, 2 * begun_before) || in_one_step));
  }
}

}  // namespace

TEST_CASE("tiles have the operations that overlap them, of any size, in any memory") {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    CAPTURE(seed);
    const Run run = run_with_waits(seed);
    const PageTables all = unpack(page_data(run, {.limit = UINT64_MAX})["packed"]);
    for (const std::uint64_t most : {std::uint64_t{300}, UINT64_MAX}) {
      CAPTURE(most);
      const Made made = made_of(run, most, UINT64_MAX);
      check_tiles(made, all, most);
      CHECK((made.scripts.size() == 1) == (most == UINT64_MAX));
      CHECK(made_of(run, most, 1).scripts == made.scripts);
      CHECK(made_of(run, most, 100'000, 3).scripts == made.scripts);
      CHECK(made.page["time"]["embedded"] == 0);
      CHECK(unpack(made.page["packed"]).at("mpi_calls").at("start_ns").empty());
    }
  }
}

TEST_CASE("the tiles of a store are those of the run, also of what it keeps of its traffic") {
  const test::TemporaryFolder folder;
  Run run = run_with_waits(11);
  const Made expected = made_of(run, 300, UINT64_MAX);
  lay_out_traffic(run, {.least_rows = 0, .rows_of_row = 0});
  save_store(run, folder / "a.h5");
  StoredRun stored = *open_store(folder / "a.h5");
  const Made made = made_of({std::move(stored.head), std::move(stored.readers)}, 300, 100'000);
  CHECK(made.scripts == expected.scripts);
  CHECK(made.page == expected.page);
}

TEST_CASE("tiles that are made when they are asked for are those that are written") {
  const Run run = run_with_waits(14);
  const PageOptions span{.from_ns = 200'000, .to_ns = 600'000};
  // All in one group, and one or a few in each.
  for (const auto& [asked, memory] : {std::pair{PageOptions{}, std::uint64_t{1} << 30},
                                      std::pair{PageOptions{}, std::uint64_t{400'000}},
                                      std::pair{span, std::uint64_t{1}}}) {
    CAPTURE(memory);
    const Made written = made_of(run, 100, UINT64_MAX, 1, asked);
    PageOptions options = asked;
    MakeTile make;
    TileOptions& tiles = options.tiles.emplace();
    tiles.operations = 100;
    tiles.memory_bytes = memory;
    tiles.serve = [&](MakeTile it) { make = std::move(it); };
    const RowSource source(run);
    ordered_json page = page_data(source, options), expected = written.page;
    CHECK(page["tiles"]["adler32"].is_null());
    page["tiles"].erase("adler32");
    expected["tiles"].erase("adler32");
    CHECK(page == expected);
    // In an arbitrary order, and some twice: cached knowledge of the rows is reused.
    const std::size_t count = written.scripts.size();
    REQUIRE(count > 3);
    for (std::size_t i = 0; i < 2 * count; ++i) {
      const std::size_t number = (i * 7 + 3) % count;
      CAPTURE(number);
      CHECK(make(number) == written.scripts.at(number));
    }
    CHECK(!make(count));
  }
}

TEST_CASE("the tiles of a span have what is in progress in it") {
  const Run run = run_with_waits(12);
  const PageOptions span{.from_ns = 200'000, .to_ns = 600'000};
  PageOptions whole = span;
  whole.limit = UINT64_MAX;
  const PageTables all = unpack(page_data(run, whole)["packed"]);
  check_tiles(made_of(run, 200, UINT64_MAX, 1, span), all, 200);
}

TEST_CASE("where more is in progress than a tile should have, all tiles together stay small") {
  const Run run = run_with_waits(13);
  PageOptions whole;
  whole.limit = UINT64_MAX;
  const PageTables all = unpack(page_data(run, whole)["packed"]);
  std::uint64_t there = 0, told = 0;
  for (const std::string name : kOperationTables) there += all.at(name).at("start_ns").size();
  const Made made = made_of(run, 1, UINT64_MAX);
  check_tiles(made, all, 1);
  for (const auto& operations : made.page["tiles"]["operations"]) {
    told += operations.get<std::uint64_t>();
  }
  CHECK(made.scripts.size() > 1);
  CHECK(told <= 3 * there);
}

TEST_CASE("a page with tiles may load scripts beside it, and its template must say of scripts") {
  CHECK(with_tiles_allowed("a script-src 'unsafe-inline'; b") ==
        "a script-src 'unsafe-inline' 'self'; b");
  CHECK_THROWS_WITH_AS(with_tiles_allowed("nothing"), doctest::Contains("template"), Error);
}

}  // namespace uctrace

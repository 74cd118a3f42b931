#include "log-merger/page-data/page_tiles.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "log-merger/model/json_text.hpp"
#include "log-merger/page-data/page_data.hpp"
#include "log-merger/page-data/page_details.hpp"
#include "log-merger/page-data/tile_plan.hpp"
#include "log-merger/page-data/tile_rows.hpp"
#include "log-merger/summaries/run_facts.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

// What a tile calls in the page, which has it from a script: a page from disk can load nothing
// else.
constexpr std::string_view kCall = "uctraceTile(";
constexpr std::string_view kEnding = ".js";

CellOfMessages cells_of_messages(const RowSource& source, const TrafficCells& cells) {
  CellOfMessages found;
  found.cells.reserve(source.count<Message>());
  for_each_message(
      source, TrafficCells::of_messages(), TrafficCells::of_paths(),
      [&](const Message& message, std::span<const Hop> path, std::size_t) {
        found.cells.push_back(cells.find(message, path).value_or(CellOfMessages::kNowhere));
      });
  return found;
}

// Tiles [first, end) of the plan, whose rows are held together.
struct Group {
  std::size_t first, end;
};

// Bytes that the rows of a tile take. Of hops and waits, as many are expected as the run has on
// average.
class TileMemory {
 public:
  explicit TileMemory(const RowSource& source)
      : hops_(share<Hop, Message>(source)), waits_(share<Wait, MpiCallRow>(source)) {}

  std::uint64_t of(const Tile& tile) const {
    const auto rows = [&](RowsOf table) { return tile.rows[static_cast<std::size_t>(table)]; };
    constexpr std::uint64_t kNumbers = 2 * sizeof(std::size_t), kToldWait = 48;
    return rows(RowsOf::mpi_calls) * (sizeof(MpiCallRow) + kNumbers + waits_ * kToldWait) +
           rows(RowsOf::ucp_operations) * (sizeof(UcpOperationRow) + kNumbers) +
           rows(RowsOf::transfers) * (sizeof(Transfer) + kNumbers) +
           rows(RowsOf::messages) * (sizeof(Message) + kNumbers + hops_ * sizeof(Hop));
  }

  // The next tiles from `first` on: one at least.
  Group group(const std::vector<Tile>& tiles, std::size_t first, std::uint64_t most) const {
    std::uint64_t bytes = 0;
    std::size_t end = first;
    do {
      bytes += of(tiles[end++]);
    } while (end < tiles.size() && bytes + of(tiles[end]) <= most);
    return {first, end};
  }

 private:
  // Rounded up: vectors have some room to grow.
  template <typename Part, typename Whole>
  static std::uint64_t share(const RowSource& source) {
    return source.count<Part>() / std::max<std::size_t>(1, source.count<Whole>()) + 1;
  }

  const std::uint64_t hops_, waits_;
};

// Reads what the tiles of a group have.
class GroupReader {
 public:
  GroupReader(const RowSource& source, const TilePlan& plan, const Group& group,
              const CellOfMessages& cell_of)
      : source_(source), plan_(plan), group_(group) {
    for (std::size_t tile = group.first; tile < group.end; ++tile) {
      tiles_.emplace_back(plan.tiles()[tile], cell_of);
    }
  }

  std::vector<TileRows> read() && {
    const auto add = [](TileRows& tile, const auto& row, std::size_t number) {
      tile.add(row, number);
    };
    read<MpiCallRow>(add);
    read<UcpOperationRow>(add);
    read<Transfer>(add);
    Paths paths(source_, Wanted<Hop>::all());
    read<Message>([&](TileRows& tile, const Message& message, std::size_t number) {
      tile.add(message, paths(message), number);
    });
    for (TileRows& tile : tiles_) tile.order();
    read_waits();
    return std::move(tiles_);
  }

 private:
  template <typename Row>
  std::span<TileRows> tiles_of(const Row& row) {
    const auto [begin, end] = plan_.of(row);
    const std::size_t first = std::max(begin, group_.first), behind = std::min(end, group_.end);
    if (first >= behind) return {};
    return std::span(tiles_).subspan(first - group_.first, behind - first);
  }

  // Calls add(tile, row, number) for each tile that a row overlaps. Of a part of the table in which
  // no row overlaps any, no more than the times are read.
  template <typename Row, typename Add>
  void read(Add add) {
    const TableReader<Row>& table = source_.table<Row>();
    std::vector<Row> buffer;
    for (std::size_t first = 0; first < table.count(); first += kRowsAtOnce) {
      const std::size_t end = std::min(first + kRowsAtOnce, table.count());
      const auto times = table.read(first, end, times_of<Row>(), buffer);
      const auto is_here = [&](const Row& row) { return !tiles_of(row).empty(); };
      if (std::none_of(times.begin(), times.end(), is_here)) continue;
      std::size_t number = first;
      for (const Row& row : table.read(first, end, Wanted<Row>::all(), buffer)) {
        for (TileRows& tile : tiles_of(row)) add(tile, row, number);
        ++number;
      }
    }
  }

  void read_waits() {
    RowWindow<MpiCallRow> calls(source_, times_of<MpiCallRow>());
    for_each_row(source_, ToldWaits::of_waits(), [&](const Wait& wait, std::size_t) {
      if (wait.call < 0) return;
      for (TileRows& tile : tiles_of(calls.row(static_cast<std::size_t>(wait.call)))) {
        tile.add(wait);
      }
    });
  }

  const RowSource& source_;
  const TilePlan& plan_;
  const Group group_;
  std::vector<TileRows> tiles_;
};

ordered_json packed_tile(const Run& run, const TrafficCells& cells, TileRows& rows) {
  std::vector<PackedTable> tables = make_details(run, cells, rows);
  tables.push_back(rows.waits());
  return pack(tables);
}

// Tells how far the work is, one thread at a time.
class Written {
 public:
  Written(const TileOptions& options, std::size_t tiles) : options_(options), tiles_(tiles) {}
  void one_more() {
    const std::lock_guard lock(mutex_);
    options_.progress(++written_, tiles_);
  }

 private:
  const TileOptions& options_;
  const std::size_t tiles_;
  std::mutex mutex_;
  std::size_t written_ = 0;
};

}  // namespace

ordered_json make_tiles(const RowSource& source, const TimeWindow& window, const TimeAxis& axis,
                        const TrafficCells& cells, const TileOptions& options) {
  const Run& run = source.run();
  const TilePlan plan(source, window, axis, options.operations);
  const CellOfMessages cell_of = cells_of_messages(source, cells);
  const TileMemory memory(source);
  const std::vector<Tile>& tiles = plan.tiles();
  const std::string id = facts_of(run).id;
  std::vector<ordered_json> checksums(tiles.size());
  Written written(options, tiles.size());
  for (Group group{0, 0}; group.end < tiles.size();) {
    group = memory.group(tiles, group.end, options.memory_bytes);
    std::vector<TileRows> rows = GroupReader(source, plan, group, cell_of).read();
    options.workers.each(rows.size(), [&](std::size_t i) {
      const std::size_t number = group.first + i;
      ordered_json packed = packed_tile(run, cells, rows[i]);
      checksums[number] = packed["adler32"];
      const ordered_json tile = {
          {"schema", kPageSchema}, {"run", id}, {"tile", number}, {"packed", std::move(packed)}};
      options.write(number, std::string(kCall) + dump(tile) + ");\n");
      written.one_more();
    });
  }
  ordered_json starts = ordered_json::array(), operations = starts;
  for (const Tile& tile : tiles) {
    starts.push_back(tile.from_ns);
    operations.push_back(tile.operations());
  }
  return {{"from_ns", std::move(starts)},
          {"operations", std::move(operations)},
          {"adler32", std::move(checksums)}};
}

std::string tile_name(std::size_t number) { return std::to_string(number) + std::string(kEnding); }

}  // namespace uctrace

#include "log-merger/page-data/page_tiles.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <tuple>
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

// The function of the page that a tile calls. The page gets tiles as scripts, because a page from
// disk can load nothing else.
constexpr std::string_view kCall = "uctraceTile(";
constexpr std::string_view kEnding = ".js";

std::string script_of(const ordered_json& tile) { return std::string(kCall) + dump(tile) + ");\n"; }

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

// A group of served tiles gets 1/kServedShare of the memory for rows: a request for one tile waits
// until its whole group was read.
constexpr std::uint64_t kServedShare = 4;

// Tiles [first, end) of the plan. Their rows are in memory together.
struct Group {
  std::size_t first, end;

  bool empty() const { return first >= end; }
  void include(const Group& other) {
    if (!other.empty()) *this = {std::min(first, other.first), std::max(end, other.end)};
  }
};
constexpr Group kNone{SIZE_MAX, 0};

// The memory for the rows of a tile, in bytes. Hops and waits are estimated from their average in
// the run.
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

  // All tiles, in order. Each group has as many as fit into `most` bytes together, but at least
  // one.
  std::vector<Group> groups(const std::vector<Tile>& tiles, std::uint64_t most) const {
    std::vector<Group> found;
    std::uint64_t bytes = 0;
    for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
      bytes += of(tiles[tile]);
      if (found.empty() || bytes > most) {
        found.push_back({tile, tile});
        bytes = of(tiles[tile]);
      }
      found.back().end = tile + 1;
    }
    return found;
  }

 private:
  // Rounded up, because vectors reserve spare room as they grow.
  template <typename Part, typename Whole>
  static std::uint64_t share(const RowSource& source) {
    return source.count<Part>() / std::max<std::size_t>(1, source.count<Whole>()) + 1;
  }

  const std::uint64_t hops_, waits_;
};

// Which tiles the rows of each part of a table overlap, once that part was read. A part has
// kRowsAtOnce rows.
class Parts {
 public:
  // Whether a row of the part may be in any of these tiles.
  bool may_be_in(std::size_t part, const Group& group) const {
    return part >= parts_.size() ||
           (parts_[part].first < group.end && parts_[part].end > group.first);
  }
  // All rows of this part, which is known or the next one, are in the tiles of `hull`.
  void learn(std::size_t part, const Group& hull) {
    if (part == parts_.size()) parts_.push_back(hull);
  }

 private:
  std::vector<Group> parts_;
};
template <typename Row>
struct PartsOf : Parts {};
using AllParts = std::tuple<PartsOf<MpiCallRow>, PartsOf<UcpOperationRow>, PartsOf<Transfer>,
                            PartsOf<Message>, PartsOf<Wait>>;

// Reads the rows of the tiles of a group.
class GroupReader {
 public:
  GroupReader(const RowSource& source, const TilePlan& plan, const Group& group,
              const CellOfMessages& cell_of, AllParts& parts)
      : source_(source), plan_(plan), group_(group), parts_(parts) {
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
  Group tiles_of(const Row& row) const {
    const auto [first, end] = plan_.of(row);
    return {first, end};
  }

  std::span<TileRows> tiles_in(const Group& span) {
    const Group here{std::max(span.first, group_.first), std::min(span.end, group_.end)};
    if (here.empty()) return {};
    return std::span(tiles_).subspan(here.first - group_.first, here.end - here.first);
  }

  // Calls visit(first, end) for each part of the table that may have rows of the group. visit()
  // returns the tiles that its rows are in, which are remembered.
  template <typename Row, typename Visit>
  void each_part(Visit visit) {
    const std::size_t count = source_.count<Row>();
    for (std::size_t first = 0, part = 0; first < count; first += kRowsAtOnce, ++part) {
      if (!std::get<PartsOf<Row>>(parts_).may_be_in(part, group_)) continue;
      std::get<PartsOf<Row>>(parts_).learn(part,
                                           visit(first, std::min(first + kRowsAtOnce, count)));
    }
  }

  // Calls add(tile, row, number) for each tile that a row overlaps. If no row of a part of the
  // table overlaps any, only the times of that part are read, once.
  template <typename Row, typename Add>
  void read(Add add) {
    const TableReader<Row>& table = source_.table<Row>();
    std::vector<Row> buffer;
    each_part<Row>([&](std::size_t first, std::size_t end) {
      Group hull = kNone;
      bool any = false;
      for (const Row& row : table.read(first, end, times_of<Row>(), buffer)) {
        const Group span = tiles_of(row);
        hull.include(span);
        any = any || !tiles_in(span).empty();
      }
      if (!any) return hull;
      std::size_t number = first;
      for (const Row& row : table.read(first, end, Wanted<Row>::all(), buffer)) {
        for (TileRows& tile : tiles_in(tiles_of(row))) add(tile, row, number);
        ++number;
      }
      return hull;
    });
  }

  void read_waits() {
    RowWindow<MpiCallRow> calls(source_, times_of<MpiCallRow>());
    std::vector<Wait> buffer;
    each_part<Wait>([&](std::size_t first, std::size_t end) {
      Group hull = kNone;
      for (const Wait& wait :
           source_.table<Wait>().read(first, end, ToldWaits::of_waits(), buffer)) {
        if (wait.call < 0) continue;
        const Group span = tiles_of(calls.row(static_cast<std::size_t>(wait.call)));
        hull.include(span);
        for (TileRows& tile : tiles_in(span)) tile.add(wait);
      }
      return hull;
    });
  }

  const RowSource& source_;
  const TilePlan& plan_;
  const Group group_;
  AllParts& parts_;
  std::vector<TileRows> tiles_;
};

ordered_json packed_tile(const Run& run, const TrafficCells& cells, TileRows& rows) {
  std::vector<PackedTable> tables = make_details(run, cells, rows);
  tables.push_back(rows.waits());
  return pack(tables);
}

// Reports progress, one thread at a time.
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

// Everything that tiles are made from.
class Tiles {
 public:
  Tiles(const RowSource& source, const TimeWindow& window, const TimeAxis& axis,
        std::shared_ptr<const TrafficCells> cells, std::uint64_t operations)
      : source_(source),
        plan_(source, window, axis, operations),
        cells_(std::move(cells)),
        cell_of_(cells_of_messages(source, *cells_)),
        id_(facts_of(source.run()).id) {}

  const std::vector<Tile>& all() const { return plan_.tiles(); }

  std::vector<TileRows> read(const Group& group) {
    return GroupReader(source_, plan_, group, cell_of_, parts_).read();
  }

  struct Script {
    std::string text;
    ordered_json checksum;
  };
  Script script(std::size_t number, TileRows& rows) const {
    ordered_json packed = packed_tile(source_.run(), *cells_, rows);
    const ordered_json checksum = packed["adler32"];
    const ordered_json tile = {
        {"schema", kPageSchema}, {"run", id_}, {"tile", number}, {"packed", std::move(packed)}};
    return {script_of(tile), checksum};
  }

  // `checksums`: one for each tile, null if the tiles are not made yet.
  ordered_json index(ordered_json checksums) const {
    ordered_json starts = ordered_json::array(), operations = starts;
    for (const Tile& tile : all()) {
      starts.push_back(tile.from_ns);
      operations.push_back(tile.operations());
    }
    return {{"from_ns", std::move(starts)},
            {"operations", std::move(operations)},
            {"adler32", std::move(checksums)}};
  }

 private:
  const RowSource& source_;
  const TilePlan plan_;
  const std::shared_ptr<const TrafficCells> cells_;
  const CellOfMessages cell_of_;
  const std::string id_;
  AllParts parts_;
};

ordered_json write_all(const RowSource& source, Tiles& tiles, const TileOptions& options) {
  const std::size_t count = tiles.all().size();
  std::vector<ordered_json> checksums(count);
  Written written(options, count);
  for (const Group& group : TileMemory(source).groups(tiles.all(), options.memory_bytes)) {
    std::vector<TileRows> rows = tiles.read(group);
    options.workers.each(rows.size(), [&](std::size_t i) {
      const std::size_t number = group.first + i;
      auto [text, checksum] = tiles.script(number, rows[i]);
      checksums[number] = std::move(checksum);
      options.write(number, text);
      written.one_more();
    });
  }
  return tiles.index(std::move(checksums));
}

// Makes tiles on request. Most parts of a store have rows of many tiles, so reading one tile takes
// nearly as long as also reading its neighbours: their rows are kept.
class ServedTiles {
 public:
  ServedTiles(const RowSource& source, std::shared_ptr<Tiles> tiles, std::uint64_t memory_bytes)
      : tiles_(std::move(tiles)), groups_(TileMemory(source).groups(tiles_->all(), memory_bytes)) {}

  std::optional<std::string> operator()(std::size_t number) {
    if (number >= tiles_->all().size()) return std::nullopt;
    if (number < read_.first || number >= read_.end) read_group_of(number);
    return tiles_->script(number, rows_[number - read_.first]).text;
  }

 private:
  void read_group_of(std::size_t number) {
    read_ = kNone;
    rows_.clear();  // frees them before others are read
    const Group group = *std::prev(std::ranges::upper_bound(groups_, number, {}, &Group::first));
    rows_ = tiles_->read(group);
    read_ = group;
  }

  const std::shared_ptr<Tiles> tiles_;
  const std::vector<Group> groups_;
  Group read_ = kNone;
  std::vector<TileRows> rows_;  // of the tiles of that group
};

}  // namespace

ordered_json make_tiles(const RowSource& source, const TimeWindow& window, const TimeAxis& axis,
                        std::shared_ptr<const TrafficCells> cells, const TileOptions& options) {
  const auto tiles =
      std::make_shared<Tiles>(source, window, axis, std::move(cells), options.operations);
  if (!options.serve) return write_all(source, *tiles, options);
  const auto served =
      std::make_shared<ServedTiles>(source, tiles, options.memory_bytes / kServedShare);
  options.serve([served](std::size_t number) { return (*served)(number); });
  return tiles->index(nullptr);
}

std::string failed_tile(const std::string& why) { return script_of({{"failure", why}}); }

std::string tile_name(std::size_t number) { return std::to_string(number) + std::string(kEnding); }

}  // namespace uctrace

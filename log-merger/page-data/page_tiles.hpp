// The tiles of a page hold all operations one by one. Each file is a span of time, which the page
// loads when the reader gets there (docs/page-data.md#tiles).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "log-merger/parallel/workers.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/time_slabs.hpp"
#include "log-merger/summaries/time_window.hpp"
#include "log-merger/summaries/traffic_cells.hpp"

namespace uctrace {

// This many operations are about a megabyte (docs/performance.md).
inline constexpr std::uint64_t kTileOperations = 100'000;

// Makes the script of a tile; nullopt if there is no tile with this number. One thread at a time.
using MakeTile = std::function<std::optional<std::string>(std::size_t number)>;

struct TileOptions {
  std::uint64_t operations = kTileOperations;           // in a tile, if that is possible
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  // for rows that are held at a time
  Workers workers = Workers();                          // that make them
  // Gets the tiles, each once, in any order and from any of the workers.
  std::function<void(std::size_t number, const std::string& script)> write;
  // Gets the number of tiles written and of all tiles, as the written ones increase.
  std::function<void(std::size_t written, std::size_t tiles)> progress = [](auto, auto) {};
  // Instead of writing tiles: gets a function that makes any of them later, while the source is
  // there.
  std::function<void(MakeTile)> serve;
};

// Makes and writes all tiles, or leaves that to the server, and returns what the page must know
// about them. Reads the times of all rows, and all messages, once; then all rows for each group of
// tiles that fits the memory (a quarter of it if tiles are served). A part of a table without rows
// of the group is skipped once that is known.
nlohmann::ordered_json make_tiles(const RowSource& source, const TimeWindow& window,
                                  const TimeAxis& axis, std::shared_ptr<const TrafficCells> cells,
                                  const TileOptions& options);

// Replaces a tile that cannot be made: the page then says why. A browser runs no script that comes
// with an error status.
std::string failed_tile(const std::string& why);

// Tile 12 is "12.js".
std::string tile_name(std::size_t number);

}  // namespace uctrace

// How the time of a run is cut into tiles: short steps of equal length. Each tile has as many steps
// as hold no more operations than it should have. Slabs are too long for that: in a run with many
// different classes of traffic, one may be a sixteenth of the run. An operation is in every tile
// that it overlaps, so that the tile of an instant has all operations of that instant.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "log-merger/page-data/page_choice.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/time_slabs.hpp"
#include "log-merger/summaries/time_window.hpp"

namespace uctrace {

// Rows of a tile, by table.
using RowCounts = std::array<std::uint64_t, kDetailTables>;

struct Tile {
  std::int64_t from_ns = 0;  // it ends where the next one begins
  RowCounts rows{};

  std::uint64_t operations() const;
};

class TilePlan {
 public:
  static constexpr std::uint32_t kSteps = 65'536;

  // Covers the time of `axis`. Reads the times of all rows once. A tile has more than `most`
  // operations if that many begin in one step, or are in progress when it begins.
  TilePlan(const RowSource& source, const TimeWindow& window, const TimeAxis& axis,
           std::uint64_t most);

  const std::vector<Tile>& tiles() const { return tiles_; }

  // The tiles [first, end) that an operation overlaps; none if it is not in the window.
  std::pair<std::size_t, std::size_t> of(std::int64_t start_ns, std::int64_t last_ns) const;
  template <typename Row>
  std::pair<std::size_t, std::size_t> of(const Row& row) const {
    return of(start_of(row), last_drawn(row));
  }

 private:
  // A message without a known end is drawn where it starts. Otherwise it would be in all later
  // tiles.
  template <typename Row>
  static std::int64_t last_drawn(const Row& row) {
    if constexpr (std::is_same_v<Row, Message>) {
      return end_or(last_of(row), start_of(row));
    } else {
      return last_of(row);
    }
  }
  // The first and the last step that an operation overlaps; {1, 0} if it is not in the window.
  std::pair<std::uint32_t, std::uint32_t> steps_of(std::int64_t start_ns,
                                                   std::int64_t last_ns) const;
  void cut(const std::vector<RowCounts>& begin_in, const std::vector<RowCounts>& end_in,
           std::uint64_t most);

  const TimeWindow window_;
  const TimeAxis steps_;
  std::vector<Tile> tiles_;
  std::vector<std::uint32_t> tile_of_step_;
};

}  // namespace uctrace

#include "log-merger/page-data/tile_plan.hpp"

#include <algorithm>
#include <numeric>

namespace uctrace {

namespace {

// The same time in more and shorter slabs; the last one may end a little later.
TimeAxis steps_of_axis(const TimeAxis& axis, std::uint32_t most) {
  const std::int64_t length = axis.slab_ns * std::int64_t{axis.slabs};
  const std::int64_t step = std::max<std::int64_t>(1, (length - 1) / most + 1);
  return {axis.from_ns, step, static_cast<std::uint32_t>((length - 1) / step + 1)};
}

}  // namespace

std::uint64_t Tile::operations() const {
  return std::accumulate(rows.begin(), rows.end(), std::uint64_t{0});
}

TilePlan::TilePlan(const RowSource& source, const TimeWindow& window, const TimeAxis& axis,
                   std::uint64_t most)
    : window_(window), steps_(steps_of_axis(axis, kSteps)) {
  std::vector<RowCounts> begin_in(steps_.slabs), end_in(steps_.slabs);
  const auto count = [&]<typename Row>(const Row&) {
    constexpr auto kTable = static_cast<std::size_t>(table_of(Row()));
    for_each_row(source, times_of<Row>(), [&](const Row& row, std::size_t) {
      const auto [first, last] = steps_of(start_of(row), last_drawn(row));
      if (first > last) return;
      ++begin_in[first][kTable];
      ++end_in[last][kTable];
    });
  };
  count(MpiCallRow());
  count(UcpOperationRow());
  count(Transfer());
  count(Message());
  cut(begin_in, end_in, most);
}

std::pair<std::uint32_t, std::uint32_t> TilePlan::steps_of(std::int64_t start_ns,
                                                           std::int64_t last_ns) const {
  // An operation without a known end is drawn until the end of the axis, a little behind that of
  // the window.
  const std::int64_t last = std::max(start_ns, end_or(last_ns, INT64_MAX));
  if (!window_.overlaps(start_ns, last)) return {1, 0};
  const auto step_at = [&](std::int64_t time_ns) {
    return static_cast<std::uint32_t>(std::min<std::int64_t>(
        (time_ns - steps_.from_ns) / steps_.slab_ns, std::int64_t{steps_.slabs} - 1));
  };
  return {step_at(std::max(start_ns, window_.from_ns)), step_at(last)};
}

std::pair<std::size_t, std::size_t> TilePlan::of(std::int64_t start_ns,
                                                 std::int64_t last_ns) const {
  const auto [first, last] = steps_of(start_ns, last_ns);
  if (first > last) return {0, 0};
  return {tile_of_step_[first], tile_of_step_[last] + std::size_t{1}};
}

// Adds step after step to the last tile, or to a new one, which begins with the operations in
// progress. If many are in progress already, a tile takes as many again. Otherwise each step would
// become a tile, and the total size would grow with steps times operations in progress.
void TilePlan::cut(const std::vector<RowCounts>& begin_in, const std::vector<RowCounts>& end_in,
                   std::uint64_t most) {
  RowCounts in_progress{};    // when the step begins
  std::uint64_t room = most;  // left in the last tile
  for (std::uint32_t step = 0; step < steps_.slabs; ++step) {
    const std::uint64_t begin =
        std::accumulate(begin_in[step].begin(), begin_in[step].end(), std::uint64_t{0});
    if (tiles_.empty() || (begin > 0 && tiles_.back().operations() + begin > room)) {
      tiles_.push_back({steps_.from_ns + steps_.slab_ns * std::int64_t{step}, in_progress});
      room = std::max(most, 2 * tiles_.back().operations());
    }
    Tile& tile = tiles_.back();
    for (std::size_t table = 0; table < kDetailTables; ++table) {
      tile.rows[table] += begin_in[step][table];
      in_progress[table] += begin_in[step][table];
      in_progress[table] -= end_in[step][table];
    }
    tile_of_step_.push_back(static_cast<std::uint32_t>(tiles_.size() - 1));
  }
}

}  // namespace uctrace

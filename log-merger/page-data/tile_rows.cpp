#include "log-merger/page-data/tile_rows.hpp"

#include <algorithm>
#include <numeric>

#include "log-merger/summaries/time_window.hpp"

namespace uctrace {

template <typename Row>
void TileRows::RowsAt<Row>::make_room(std::uint64_t count) {
  rows.reserve(count);
  numbers.reserve(count);
}

// By process, start and number. Most tables are already in that order; messages are in that of the
// run.
template <typename Row>
void TileRows::RowsAt<Row>::order() {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    std::uint32_t process = 0;
    if constexpr (requires(Row row) { row.process; }) process = rows[i].process;
    return std::pair(process, start_of(rows[i]));
  };
  const auto comes_before = [&](std::size_t a, std::size_t b) { return key(a) < key(b); };
  if (!std::is_sorted(order.begin(), order.end(), comes_before)) {
    std::stable_sort(order.begin(), order.end(), comes_before);
  }
  places.resize(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) places[order[place]] = place;
}

TileRows::TileRows(const Tile& tile, const CellOfMessages& cell_of) : cell_of_(cell_of) {
  std::apply(
      [&]<typename... Row>(RowsAt<Row>&... tables) {
        (tables.make_room(tile.rows[static_cast<std::size_t>(table_of(Row()))]), ...);
      },
      rows_);
}

void TileRows::add(const Message& message, std::span<const Hop> path, std::size_t number) {
  auto& messages = std::get<RowsAt<Message>>(rows_);
  messages.add(message, number);
  messages.rows.back().first_hop = static_cast<std::uint32_t>(hops_.size());
  hops_.insert(hops_.end(), path.begin(), path.end());
}

void TileRows::order() {
  std::apply([](auto&... tables) { (tables.order(), ...); }, rows_);
}

void TileRows::add(const Wait& wait) {
  const auto& [calls, numbers, places] = std::get<RowsAt<MpiCallRow>>(rows_);
  const auto at =
      std::lower_bound(numbers.begin(), numbers.end(), static_cast<std::size_t>(wait.call));
  if (at == numbers.end() || *at != static_cast<std::size_t>(wait.call)) return;
  const auto i = static_cast<std::size_t>(at - numbers.begin());
  waits_.add(static_cast<std::int64_t>(places[i]), calls[i], wait);
}

std::size_t TileRows::count(RowsOf table) const {
  return std::apply(
      [&]<typename... Row>(const RowsAt<Row>&... tables) {
        return ((table_of(Row()) == table ? tables.rows.size() : 0) + ...);
      },
      rows_);
}

void TileRows::each_path(const VisitPath& visit) const {
  visit_all<Message>([&](const Message& message, std::size_t, std::size_t place) {
    visit(message, std::span(hops_).subspan(message.first_hop, message.hops), place);
  });
}

}  // namespace uctrace

// The rows of one tile, held in memory from when the run is read until the tile is made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "log-merger/page-data/detail_rows.hpp"
#include "log-merger/page-data/tile_plan.hpp"
#include "log-merger/page-data/told_waits.hpp"

namespace uctrace {

// The cell that counts each message of the run, or kNowhere.
struct CellOfMessages {
  static constexpr std::uint32_t kNowhere = UINT32_MAX;
  std::vector<std::uint32_t> cells;

  std::optional<std::uint32_t> operator()(std::int64_t message) const {
    if (message < 0 || static_cast<std::size_t>(message) >= cells.size()) return std::nullopt;
    const std::uint32_t cell = cells[static_cast<std::size_t>(message)];
    return cell == kNowhere ? std::nullopt : std::optional(cell);
  }
};

class TileRows final : public DetailRows {
 public:
  // Reserves room for the rows that the tile will have. The caller keeps `cell_of` alive.
  TileRows(const Tile& tile, const CellOfMessages& cell_of);

  // Add rows in the order of their tables; then call order() once, and then add the waits of these
  // calls.
  template <typename Row>
  void add(const Row& row, std::size_t number) {
    std::get<RowsAt<Row>>(rows_).add(row, number);
  }
  void add(const Message& message, std::span<const Hop> path, std::size_t number);
  void order();
  void add(const Wait& wait);

  std::size_t count(RowsOf table) const override;
  void each(const VisitDetail<MpiCallRow>& visit) const override { visit_all(visit); }
  void each(const VisitDetail<UcpOperationRow>& visit) const override { visit_all(visit); }
  void each(const VisitDetail<Transfer>& visit) const override { visit_all(visit); }
  void each(const VisitDetail<Message>& visit) const override { visit_all(visit); }
  void each_path(const VisitPath& visit) const override;
  std::optional<std::uint32_t> cell_of(std::int64_t message) const override {
    return cell_of_(message);
  }
  PackedTable waits() { return waits_.table(); }

 private:
  template <typename Row>
  struct RowsAt {
    std::vector<Row> rows;
    std::vector<std::size_t> numbers;  // ascending
    std::vector<std::size_t> places;   // of each

    void add(const Row& row, std::size_t number) {
      rows.push_back(row);
      numbers.push_back(number);
    }
    void make_room(std::uint64_t count);
    void order();
  };

  template <typename Row>
  void visit_all(const VisitDetail<Row>& visit) const {
    const auto& [rows, numbers, places] = std::get<RowsAt<Row>>(rows_);
    for (std::size_t i = 0; i < rows.size(); ++i) visit(rows[i], numbers[i], places[i]);
  }

  std::tuple<RowsAt<MpiCallRow>, RowsAt<UcpOperationRow>, RowsAt<Transfer>, RowsAt<Message>> rows_;
  std::vector<Hop> hops_;  // Message::first_hop is one of these
  ToldWaits waits_;
  const CellOfMessages& cell_of_;
};

}  // namespace uctrace

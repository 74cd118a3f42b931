// Counts traffic by cell (traffic_rows.hpp). Keeps four bytes per message: its cell.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/row-source/wanted.hpp"
#include "log-merger/summaries/numbers.hpp"
#include "log-merger/summaries/time_window.hpp"

namespace uctrace {

struct CellTables {
  std::vector<PathStep> path_steps;  // in order of first appearance, like all tables
  std::vector<TrafficClass> traffic_classes;
  std::vector<ClassStep> class_steps;
  std::vector<TrafficCell> cells;
  std::vector<CellTotal> cell_totals;

  std::span<const ClassStep> path_of(const TrafficClass& traffic_class) const {
    return std::span(class_steps).subspan(traffic_class.first_step, traffic_class.steps);
  }
};

class TrafficCells {
 public:
  explicit TrafficCells(const TimeWindow& window) : window_(window) {}
  // With existing cells, to find rows in them.
  TrafficCells(const TimeWindow& window, CellTables tables);

  // The members needed by add() and find().
  static Wanted<Message> of_messages();
  static Wanted<Hop> of_paths();
  static Wanted<Transfer> of_transfers();

  // Add all messages in order, then all transfers in order. Returns where each is counted; nothing:
  // it is not in the window.
  struct Placed {
    std::uint32_t cell, first_total;
    std::span<const CellTotal> path;  // totals from the first one on; valid until the next call
  };
  std::optional<Placed> add(const Message& message, std::span<const Hop> path);
  // Returns the total. A transfer of a message was already counted with it.
  std::optional<std::uint32_t> add(const Transfer& transfer);

  // Of what was added: a message by its number.
  std::optional<std::uint32_t> cell_of_message(std::size_t message) const;

  // Where a row is counted, if it was added: its cell; or its total, from the cell of its message.
  std::optional<std::uint32_t> find(const Message& message, std::span<const Hop> hops) const;
  std::optional<std::uint32_t> find(const Transfer& transfer,
                                    std::optional<std::uint32_t> cell) const;

  const CellTables& tables() const { return tables_; }
  CellTables release() && { return std::move(tables_); }

 private:
  static constexpr std::uint32_t kNowhere = UINT32_MAX;
  using StepKey = summaries::Key<12>;
  using ClassKey = summaries::Key<13>;
  using CellKey = summaries::Key<3>;
  using Path = std::vector<std::uint32_t>;  // step numbers

  static StepKey key_of(const PathStep& step);
  static ClassKey key_of(const TrafficClass& traffic_class, std::uint32_t path);
  std::uint32_t number_of(const PathStep& step);
  // By the steps of these numbers, along the way.
  bool comes_before(std::uint32_t a, std::uint32_t b) const;
  void sort_path(Path& path) const;
  void sum_path(std::span<const Hop> path);
  std::uint32_t cell_at(std::int32_t src, std::int32_t dst, TrafficClass traffic_class);
  std::optional<std::uint32_t> find_cell(std::int32_t src, std::int32_t dst,
                                         const TrafficClass& traffic_class, const Path& path) const;
  std::optional<std::uint32_t> total_in(std::uint32_t cell, const Transfer& transfer) const;

  const TimeWindow window_;
  CellTables tables_;
  summaries::Numbers<StepKey> step_numbers_;
  summaries::Numbers<Path> path_numbers_;
  summaries::Numbers<ClassKey> class_numbers_;
  summaries::Numbers<CellKey> cell_numbers_;
  std::vector<std::uint32_t> cell_of_message_;  // or kNowhere
  // Of the message that is added: the step of each hop; each step once, in the order of the path,
  // and what it carried.
  Path hop_steps_, path_;
  std::vector<CellTotal> path_totals_;
};

}  // namespace uctrace

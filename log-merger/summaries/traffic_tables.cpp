#include "log-merger/summaries/traffic_tables.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace uctrace {
namespace {

template <typename Row>
std::vector<Row> all_rows(const RowSource& source) {
  std::vector<Row> rows;
  rows.reserve(source.count<Row>());
  for_each_row(source, Wanted<Row>::all(),
               [&](const Row& row, std::size_t) { rows.push_back(row); });
  return rows;
}

}  // namespace

TrafficCount::TrafficCount(const RowSource& source, const TimeWindow& window,
                           std::size_t row_budget, std::size_t most_rows)
    : source_(source),
      most_rows_(most_rows),
      most_sums_(TimeSlabs::kSumsOfRow * std::max(row_budget, most_rows)),
      cells_(window),
      of_messages_(window, source.run().processes.size(), row_budget),
      of_transfers_(of_messages_),
      of_ucp_(of_messages_),
      of_mpi_(of_messages_) {}

void TrafficCount::read_messages(RowVisitor& visitor) {
  for_each_message(source_, TrafficCells::of_messages(), TrafficCells::of_paths(),
                   [&](const Message& message, std::span<const Hop> path, std::size_t number) {
                     if (const auto placed = cells_.add(message, path)) {
                       of_messages_.add(message, *placed);
                     }
                     visitor.visit(message, number);
                     return cells_fit() && fits(of_messages_);
                   });
  message_totals_ = cells_.tables().cell_totals.size();
}

void TrafficCount::read_transfers(RowVisitor& visitor) {
  if (!cells_fit() || !fits(of_messages_)) return;  // not all messages were read
  const auto wanted = TrafficCells::of_transfers() |
                      Wanted<Transfer>(&Transfer::t_end_ns, &Transfer::t_complete_ns);
  for_each_row(source_, wanted, [&](const Transfer& transfer, std::size_t number) {
    const auto total = cells_.add(transfer);
    if (total && transfer.message < 0) {
      const auto place = static_cast<std::uint32_t>(*total - message_totals_);
      of_transfers_.add_without_message(transfer, place);
    }
    of_transfers_.add(transfer, total);
    visitor.visit(transfer, number);
    return cells_fit() && fits(of_transfers_);
  });
}

void TrafficCount::read_ucp_operations(RowVisitor& visitor) {
  if (!fits(of_messages_)) return;
  using Row = UcpOperationRow;
  const Wanted<Row> wanted(&Row::process, &Row::message, &Row::t_start_ns, &Row::t_end_ns);
  for_each_row(source_, wanted, [&](const Row& row, std::size_t number) {
    of_ucp_.add(row, row.message < 0
                         ? std::nullopt
                         : cells_.cell_of_message(static_cast<std::size_t>(row.message)));
    visitor.visit(row, number);
    return fits(of_ucp_);
  });
}

void TrafficCount::read_mpi_calls(RowVisitor& visitor) {
  using Row = MpiCallRow;
  const Wanted<Row> wanted(&Row::process, &Row::function, &Row::comm, &Row::t_start_ns,
                           &Row::t_end_ns);
  for_each_row(source_, wanted, [&](const Row& row, std::size_t number) {
    of_mpi_.add(row);
    visitor.visit(row, number);
    return fits(of_mpi_);
  });
}

std::optional<TrafficTables> TrafficCount::finish(const Workers& workers) {
  if (!cells_fit()) return std::nullopt;
  of_messages_.take(std::move(of_transfers_), message_totals_);
  of_messages_.take(std::move(of_ucp_));
  of_messages_.take(std::move(of_mpi_));
  // If the axis cannot get coarser, there may be more sums than the budget allows.
  if (!fits(of_messages_)) return std::nullopt;
  TrafficTables tables{{}, of_messages_.tables(workers)};
  tables.cells = std::move(cells_).release();
  if (tables.slabs.rows() + tables.cells.cells.size() > most_rows_) return std::nullopt;
  return tables;
}

TrafficTables count_traffic(const RowSource& source, const TimeWindow& window, RowVisitor& visitor,
                            std::size_t row_budget) {
  TrafficCount count(source, window, row_budget);
  count.read_messages(visitor);
  count.read_transfers(visitor);
  count.read_ucp_operations(visitor);
  count.read_mpi_calls(visitor);
  return *count.finish();
}

TrafficTables read_traffic(const RowSource& source) {
  return {{all_rows<PathStep>(source), all_rows<TrafficClass>(source), all_rows<ClassStep>(source),
           all_rows<TrafficCell>(source), all_rows<CellTotal>(source)},
          {{0, source.run().slab_ns, source.run().slabs},
           all_rows<CallGroup>(source),
           all_rows<CellSlab>(source),
           all_rows<TotalSlab>(source),
           all_rows<SlabActivity>(source)}};
}

TrafficToKeep::TrafficToKeep(Run& run, const KeepTraffic& keep) : run_(run) {
  const std::size_t rows =
      run.messages.size() + run.transfers.size() + run.ucp_operations.size() + run.mpi_calls.size();
  if (rows < keep.least_rows) return;
  const std::size_t most_rows =
      keep.rows_of_row == 0 ? TrafficCount::kAnyRows : rows / keep.rows_of_row;
  count_.emplace(run, whole_window(run.last_ns), keep.row_budget, most_rows);
}

void TrafficToKeep::finish(const Workers& workers) {
  std::optional<TrafficTables> tables = count_ ? count_->finish(workers) : std::nullopt;
  count_.reset();
  if (!tables) return;
  auto& [cells, slabs] = *tables;
  run_.slab_ns = slabs.axis.slab_ns;
  run_.slabs = slabs.axis.slabs;
  run_.path_steps = std::move(cells.path_steps);
  run_.traffic_classes = std::move(cells.traffic_classes);
  run_.class_steps = std::move(cells.class_steps);
  run_.cells = std::move(cells.cells);
  run_.cell_totals = std::move(cells.cell_totals);
  run_.call_groups = std::move(slabs.call_groups);
  run_.cell_slabs = std::move(slabs.cell_slabs);
  run_.total_slabs = std::move(slabs.total_slabs);
  run_.slab_activity = std::move(slabs.slab_activity);
  for (const Blocks* const blocks : {&of_messages_, &of_transfers_, &of_ucp_, &of_mpi_}) {
    run_.row_blocks.insert(run_.row_blocks.end(), blocks->all().begin(), blocks->all().end());
  }
}

void lay_out_traffic(Run& run, const KeepTraffic& keep) {
  TrafficToKeep traffic(run, keep);
  traffic.count_messages();
  traffic.count_transfers();
  traffic.count_ucp_operations();
  traffic.count_mpi_calls();
  traffic.finish();
}

}  // namespace uctrace

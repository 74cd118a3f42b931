#include "log-merger/summaries/traffic_tables.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace uctrace {
namespace {

constexpr std::size_t kAnyRows = SIZE_MAX / TimeSlabs::kSumsOfRow;

// Counts until there is more than fits `most_rows`.
class Counting {
 public:
  Counting(const RowSource& source, const TimeWindow& window, RowVisitor& visitor,
           std::size_t row_budget, std::size_t most_rows)
      : source_(source),
        visitor_(visitor),
        most_rows_(most_rows),
        most_sums_(TimeSlabs::kSumsOfRow * std::max(row_budget, most_rows)),
        cells_(window),
        slabs_(window, source.run().processes.size(), row_budget) {}

  std::optional<TrafficTables> count() {
    read_messages();
    read_transfers();
    read_ucp_operations();
    read_mpi_calls();
    if (!fits()) return std::nullopt;
    TrafficTables tables{{}, slabs_.tables()};
    tables.cells = std::move(cells_).release();
    if (tables.slabs.rows() + tables.cells.cells.size() > most_rows_) return std::nullopt;
    return tables;
  }

 private:
  // Where the axis can get no coarser there may be more sums than the budget has.
  bool fits() const {
    return cells_.tables().cells.size() <= most_rows_ && slabs_.sums() <= most_sums_;
  }

  void read_messages() {
    for_each_message(source_, TrafficCells::of_messages(), TrafficCells::of_paths(),
                     [&](const Message& message, std::span<const Hop> path, std::size_t number) {
                       if (const auto placed = cells_.add(message, path)) {
                         slabs_.add(message, *placed);
                       }
                       visitor_.visit(message, number);
                       return fits();
                     });
  }

  void read_transfers() {
    const auto wanted = TrafficCells::of_transfers() |
                        Wanted<Transfer>(&Transfer::t_end_ns, &Transfer::t_complete_ns);
    for_each_row(source_, wanted, [&](const Transfer& transfer, std::size_t number) {
      if (!fits()) return false;
      const auto total = cells_.add(transfer);
      if (total && transfer.message < 0) slabs_.add_without_message(transfer, *total);
      slabs_.add(transfer, total);
      visitor_.visit(transfer, number);
      return true;
    });
  }

  void read_ucp_operations() {
    using Row = UcpOperationRow;
    const Wanted<Row> wanted(&Row::process, &Row::message, &Row::t_start_ns, &Row::t_end_ns);
    for_each_row(source_, wanted, [&](const Row& row, std::size_t number) {
      if (!fits()) return false;
      slabs_.add(row, row.message < 0
                          ? std::nullopt
                          : cells_.cell_of_message(static_cast<std::size_t>(row.message)));
      visitor_.visit(row, number);
      return true;
    });
  }

  void read_mpi_calls() {
    using Row = MpiCallRow;
    const Wanted<Row> wanted(&Row::process, &Row::function, &Row::comm, &Row::t_start_ns,
                             &Row::t_end_ns);
    for_each_row(source_, wanted, [&](const Row& row, std::size_t number) {
      if (!fits()) return false;
      slabs_.add(row);
      visitor_.visit(row, number);
      return true;
    });
  }

  const RowSource& source_;
  RowVisitor& visitor_;
  const std::size_t most_rows_, most_sums_;
  TrafficCells cells_;
  TimeSlabs slabs_;
};

// Where in time the rows of each table are, a block of them at a time.
class Blocks final : public RowVisitor {
 public:
  void visit(const Message& row, std::size_t number) override { add(row, number); }
  void visit(const Transfer& row, std::size_t number) override { add(row, number); }
  void visit(const UcpOperationRow& row, std::size_t number) override { add(row, number); }
  void visit(const MpiCallRow& row, std::size_t number) override { add(row, number); }

  std::vector<RowBlock> release() && { return std::move(blocks_); }

 private:
  template <typename Row>
  void add(const Row& row, std::size_t number) {
    if (number % kRowsAtOnce == 0) blocks_.push_back({table_of(row), number, 0, -1});
    RowBlock& block = blocks_.back();
    ++block.rows;
    const std::int64_t start = start_of(row);
    if (start < 0) return;
    if (block.first_start_ns < 0 || start < block.first_start_ns) block.first_start_ns = start;
  }

  std::vector<RowBlock> blocks_;
};

template <typename Row>
std::vector<Row> all_rows(const RowSource& source) {
  std::vector<Row> rows;
  rows.reserve(source.count<Row>());
  for_each_row(source, Wanted<Row>::all(),
               [&](const Row& row, std::size_t) { rows.push_back(row); });
  return rows;
}

}  // namespace

TrafficTables count_traffic(const RowSource& source, const TimeWindow& window, RowVisitor& visitor,
                            std::size_t row_budget) {
  return *Counting(source, window, visitor, row_budget, kAnyRows).count();
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

void lay_out_traffic(Run& run, const KeepTraffic& keep) {
  const std::size_t rows =
      run.messages.size() + run.transfers.size() + run.ucp_operations.size() + run.mpi_calls.size();
  if (rows < keep.least_rows) return;
  const std::size_t most_rows = keep.rows_of_row == 0 ? kAnyRows : rows / keep.rows_of_row;
  Blocks blocks;
  std::optional<TrafficTables> tables =
      Counting(run, whole_window(run.last_ns), blocks, keep.row_budget, most_rows).count();
  if (!tables) return;
  auto& [cells, slabs] = *tables;
  run.slab_ns = slabs.axis.slab_ns;
  run.slabs = slabs.axis.slabs;
  run.path_steps = std::move(cells.path_steps);
  run.traffic_classes = std::move(cells.traffic_classes);
  run.class_steps = std::move(cells.class_steps);
  run.cells = std::move(cells.cells);
  run.cell_totals = std::move(cells.cell_totals);
  run.call_groups = std::move(slabs.call_groups);
  run.cell_slabs = std::move(slabs.cell_slabs);
  run.total_slabs = std::move(slabs.total_slabs);
  run.slab_activity = std::move(slabs.slab_activity);
  run.row_blocks = std::move(blocks).release();
}

}  // namespace uctrace

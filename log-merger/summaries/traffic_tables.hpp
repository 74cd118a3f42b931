// The traffic of a run, or of a part of it, as cells and over time: counted from the rows, or read
// if stored in the run. Both give the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "log-merger/parallel/workers.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/time_slabs.hpp"
#include "log-merger/summaries/time_window.hpp"
#include "log-merger/summaries/traffic_cells.hpp"

namespace uctrace {

struct TrafficTables {
  CellTables cells;
  SlabTables slabs;
};

// Receives every row with a known time, in table order.
class RowVisitor {
 public:
  virtual ~RowVisitor() = default;
  virtual void visit(const Message& message, std::size_t number) = 0;
  virtual void visit(const Transfer& transfer, std::size_t number) = 0;
  virtual void visit(const UcpOperationRow& operation, std::size_t number) = 0;
  virtual void visit(const MpiCallRow& call, std::size_t number) = 0;
};

// Counts the traffic of a source, table by table: messages first; then transfers and UCP
// operations, in any order or in parallel, which are found in the cells of their messages. MPI
// calls at any time. Each row is read once and passed to `visitor`.
class TrafficCount {
 public:
  static constexpr std::size_t kAnyRows = SIZE_MAX / TimeSlabs::kSumsOfRow;

  // Gives up if the result exceeds `most_rows`.
  TrafficCount(const RowSource& source, const TimeWindow& window, std::size_t row_budget,
               std::size_t most_rows = kAnyRows);

  void read_messages(RowVisitor& visitor);
  void read_transfers(RowVisitor& visitor);
  void read_ucp_operations(RowVisitor& visitor);
  void read_mpi_calls(RowVisitor& visitor);
  // nullopt: it gave up.
  std::optional<TrafficTables> finish(const Workers& workers = Workers());

 private:
  bool fits(const TimeSlabs& slabs) const { return slabs.sums() <= most_sums_; }
  bool cells_fit() const { return cells_.tables().cells.size() <= most_rows_; }

  const RowSource source_;
  const std::size_t most_rows_, most_sums_;
  TrafficCells cells_;
  std::size_t message_totals_ = 0;  // of the cells of messages, before those of transfers
  TimeSlabs of_messages_, of_transfers_, of_ucp_, of_mpi_;
};

// Rows for `visitor` have process and times.
TrafficTables count_traffic(const RowSource& source, const TimeWindow& window, RowVisitor& visitor,
                            std::size_t row_budget = kSlabRows);

// Whether the run stores the counts of all its traffic.
inline bool has_traffic(const Run& run) { return run.slabs != 0; }
TrafficTables read_traffic(const RowSource& source);

// When a run stores it: for a short run, reading the rows takes no longer, and if rows are very
// different, sums are as long as the rows.
struct KeepTraffic {
  std::size_t least_rows = 4'000'000;  // of messages and operations
  std::size_t rows_of_row = 2;         // at least so many rows per stored row
  std::size_t row_budget = kSlabRows;
};

// Stores the counts of the whole run in it, in the steps of TrafficCount.
class TrafficToKeep {
 public:
  explicit TrafficToKeep(Run& run, const KeepTraffic& keep = {});

  void count_messages() {
    if (count_) count_->read_messages(of_messages_);
  }
  void count_transfers() {
    if (count_) count_->read_transfers(of_transfers_);
  }
  void count_ucp_operations() {
    if (count_) count_->read_ucp_operations(of_ucp_);
  }
  void count_mpi_calls() {
    if (count_) count_->read_mpi_calls(of_mpi_);
  }
  void finish(const Workers& workers = Workers());

 private:
  // Where in time the rows of a table are, a block of them at a time.
  class Blocks final : public RowVisitor {
   public:
    void visit(const Message& row, std::size_t number) override { add(row, number); }
    void visit(const Transfer& row, std::size_t number) override { add(row, number); }
    void visit(const UcpOperationRow& row, std::size_t number) override { add(row, number); }
    void visit(const MpiCallRow& row, std::size_t number) override { add(row, number); }

    const std::vector<RowBlock>& all() const { return blocks_; }

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

  Run& run_;
  std::optional<TrafficCount> count_;  // nullopt: the run keeps none
  Blocks of_messages_, of_transfers_, of_ucp_, of_mpi_;
};

// All of it.
void lay_out_traffic(Run& run, const KeepTraffic& keep = {});

}  // namespace uctrace

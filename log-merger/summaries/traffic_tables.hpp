// The traffic of a run, or of a part of it, as cells and over time: counted from the rows, or read
// where a run keeps it. Both are the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/time_slabs.hpp"
#include "log-merger/summaries/time_window.hpp"
#include "log-merger/summaries/traffic_cells.hpp"

namespace uctrace {

struct TrafficTables {
  CellTables cells;
  SlabTables slabs;
};

// Is told of every row that has a place in time, in the order of its table.
class RowVisitor {
 public:
  virtual ~RowVisitor() = default;
  virtual void visit(const Message& message, std::size_t number) = 0;
  virtual void visit(const Transfer& transfer, std::size_t number) = 0;
  virtual void visit(const UcpOperationRow& operation, std::size_t number) = 0;
  virtual void visit(const MpiCallRow& call, std::size_t number) = 0;
};

// Reads each row once, and tells `visitor` of each. Of the rows it has process and times.
TrafficTables count_traffic(const RowSource& source, const TimeWindow& window, RowVisitor& visitor,
                            std::size_t row_budget = kSlabRows);

// Whether the run keeps what is counted of all of it.
inline bool has_traffic(const Run& run) { return run.slabs != 0; }
TrafficTables read_traffic(const RowSource& source);

// When a run keeps it: reading the rows of a short run takes no longer, and where the rows have
// hardly their like, sums of them are as long as they are.
struct KeepTraffic {
  std::size_t least_rows = 4'000'000;  // of messages and operations
  std::size_t rows_of_row = 2;         // so many of them for a row that is kept, or more
  std::size_t row_budget = kSlabRows;
};
// Puts what is counted of the whole run into it.
void lay_out_traffic(Run& run, const KeepTraffic& keep = {});

}  // namespace uctrace

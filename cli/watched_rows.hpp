// Rows of a run, with a line on the terminal that says how many were read.
#pragma once

#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/progress_line.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/store/store_tables.hpp"

namespace uctrace::cli {

template <typename Row>
class WatchedRows : public TableReader<Row> {
 public:
  WatchedRows(RowSource::Reader<Row> rows, ProgressLine& line)
      : rows_(std::move(rows)), line_(line) {}

  std::size_t count() const override { return rows_->count(); }
  std::span<const Row> read(std::size_t first, std::size_t end, const Wanted<Row>& wanted,
                            std::vector<Row>& buffer) const override {
    line_.read(store::Table<Row>::name, end, rows_->count());
    return rows_->read(first, end, wanted, buffer);
  }

 private:
  const RowSource::Reader<Row> rows_;
  ProgressLine& line_;
};

// The line must outlive the result.
inline RowSource::Readers watched(RowSource::Readers readers, ProgressLine& line) {
  std::apply(
      [&]<typename... Row>(RowSource::Reader<Row>&... reader) {
        ((reader = std::make_shared<WatchedRows<Row>>(reader, line)), ...);
      },
      readers);
  return readers;
}

}  // namespace uctrace::cli

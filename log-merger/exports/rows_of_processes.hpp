// The rows of one process at a time, from tables in the order of processes. Private to the room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event-log/reader/error.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace::exports {

// Rows [first, end) of a table.
struct RowsOfProcess {
  std::size_t first = 0, end = 0;
};

// By process. Throws Error if the rows are not in this order.
template <typename Row>
std::vector<RowsOfProcess> rows_of_processes(const RowSource& source) {
  std::vector<RowsOfProcess> rows(source.run().processes.size());
  for_each_row(source, Wanted<Row>{&Row::process}, [&](const Row& row, std::size_t number) {
    RowsOfProcess& of = rows[row.process];
    if (of.end == 0) of = {number, number};
    if (of.end != number) {
      throw Error({.what = "cannot export the run",
                   .why = "its rows are not in the order of its processes",
                   .to_do = "merge the logs again with `uctrace merge`"});
    }
    ++of.end;
  });
  return rows;
}

// Calls visit(row, number) for each of them, in their order.
template <typename Row, typename Visit>
void for_each_of_process(const RowSource& source, RowsOfProcess rows, const Wanted<Row>& wanted,
                         const Visit& visit) {
  std::vector<Row> buffer;
  for (std::size_t first = rows.first; first < rows.end; first += kRowsAtOnce) {
    std::size_t number = first;
    const std::size_t end = std::min(first + kRowsAtOnce, rows.end);
    for (const Row& row : source.table<Row>().read(first, end, wanted, buffer)) {
      visit(row, number++);
    }
  }
}

// Rows by number, in any order: rows near the last ones are in memory, at as many places of the
// table as threads may take turns.
template <typename Row>
class RowBlocks {
 public:
  explicit RowBlocks(const RowSource& source) : source_(source) {}

  // Valid until the next call.
  const Row& row(std::size_t number) {
    const std::size_t begin = number / kRows * kRows;
    Block& block = at(begin);
    block.last_use = ++uses_;
    return block.rows[number - begin];
  }

 private:
  static constexpr std::size_t kRows = 2 * 1024, kBlocks = 128;
  struct Block {
    std::vector<Row> buffer;
    std::span<const Row> rows;
    std::uint64_t last_use = 0;
  };

  Block& at(std::size_t begin) {
    const auto found = blocks_.find(begin);
    if (found != blocks_.end()) return found->second;
    if (blocks_.size() == kBlocks) forget_one();
    Block& block = blocks_[begin];
    block.rows = source_.table<Row>().read(begin, std::min(begin + kRows, source_.count<Row>()),
                                           Wanted<Row>::all(), block.buffer);
    return block;
  }
  void forget_one() {
    blocks_.erase(std::min_element(
        blocks_.begin(), blocks_.end(),
        [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; }));
  }

  const RowSource& source_;
  std::unordered_map<std::size_t, Block> blocks_;  // by their first row
  std::uint64_t uses_ = 0;
};

// The same in the order of their starts. Tables have a process's threads one after the other, and
// within a thread rows by their end. Takes 16 bytes per row of the process.
template <typename Row, typename Visit>
void for_each_by_start(const RowSource& source, RowsOfProcess rows, const Visit& visit) {
  std::vector<std::pair<std::int64_t, std::size_t>> order;  // start, number
  order.reserve(rows.end - rows.first);
  for_each_of_process<Row>(
      source, rows, Wanted<Row>{&Row::t_start_ns},
      [&](const Row& row, std::size_t number) { order.emplace_back(row.t_start_ns, number); });
  std::sort(order.begin(), order.end());
  RowBlocks<Row> blocks(source);
  for (const auto& [start_ns, number] : order) visit(blocks.row(number), number);
}

}  // namespace uctrace::exports

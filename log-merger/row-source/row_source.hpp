// The rows of a run, in memory or in a store, which is read in parts. Tables that grow with the
// events of the run are visited in parts, so they are never in memory as a whole.
//
// A source is a handle: copies share their data. Reading throws Error if the store turns out to be
// damaged. Threads: one at a time, as for the store.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/row-source/wanted.hpp"

namespace uctrace {

// One table that grows with the events of a run.
template <typename Row>
class TableReader {
 public:
  virtual ~TableReader() = default;
  virtual std::size_t count() const = 0;
  // Rows [first, end) with the wanted members; others may have any value. They are valid until
  // `buffer`, which may hold them, changes.
  virtual std::span<const Row> read(std::size_t first, std::size_t end, const Wanted<Row>& wanted,
                                    std::vector<Row>& buffer) const = 0;
};

class RowSource {
 public:
  template <typename Row>
  using Reader = std::shared_ptr<const TableReader<Row>>;
  template <typename... Row>
  using ReadersOf = std::tuple<Reader<Row>...>;
  using Readers =
      ReadersOf<Message, Hop, Transfer, UcpOperationRow, MpiCallRow, ConnectionRow, MemoryCallRow,
                LibraryCallRow, WaitShare, Wait, CallDependency, BegunCollective,
                PartitionOperation, PartitionEvent, PartitionLine, MessageSum, HopSum, CallSum,
                OperationSum, TransferSum, PathStep, TrafficClass, ClassStep, TrafficCell,
                CellTotal, CallGroup, CellSlab, TotalSlab, SlabActivity, RowBlock>;

  // Rows in memory; the run must outlive the source.
  RowSource(const Run& run);
  RowSource(const Run&& run) = delete;
  // Rows that `readers` give. `head` is the run without them.
  RowSource(Run head, Readers readers);

  // The run; the tables that grow may be empty in it.
  const Run& run() const { return *run_; }

  template <typename Row>
  const TableReader<Row>& table() const {
    return *std::get<Reader<Row>>(readers_);
  }
  template <typename Row>
  std::size_t count() const {
    return table<Row>().count();
  }

 private:
  std::shared_ptr<const Run> run_;
  Readers readers_;
};

// Rows read at a time. A fraction of a chunk of the store, because rows take more room in memory.
inline constexpr std::size_t kRowsAtOnce = 16 * 1024;

// Calls visit(row, number) for every row, in their order. A visitor that returns bool stops with
// false.
template <typename Row, typename Visit>
void for_each_row(const RowSource& source, const Wanted<Row>& wanted, Visit&& visit) {
  const TableReader<Row>& table = source.table<Row>();
  const std::size_t count = table.count();
  std::vector<Row> buffer;
  for (std::size_t first = 0; first < count; first += kRowsAtOnce) {
    std::size_t number = first;
    for (const Row& row : table.read(first, std::min(first + kRowsAtOnce, count), wanted, buffer)) {
      if constexpr (std::is_void_v<std::invoke_result_t<Visit&, const Row&, std::size_t>>) {
        visit(row, number++);
      } else if (!visit(row, number++)) {
        return;
      }
    }
  }
}

// Rows by number. Rows near the last ones are in memory, so a walk in table order reads each part
// once.
template <typename Row>
class RowWindow {
 public:
  RowWindow(const RowSource& source, const Wanted<Row>& wanted)
      : source_(source), wanted_(wanted) {}
  RowWindow(const RowWindow&) = delete;
  RowWindow& operator=(const RowWindow&) = delete;

  // Rows [first, first + count), which must exist. Valid until the next call.
  std::span<const Row> rows(std::size_t first, std::size_t count) {
    if (count == 0) return {};
    if (first < begin_ || first + count > begin_ + rows_.size()) {
      const std::size_t end = first + count;
      begin_ = first / kRowsAtOnce * kRowsAtOnce;
      rows_ = source_.table<Row>().read(
          begin_,
          std::min((end + kRowsAtOnce - 1) / kRowsAtOnce * kRowsAtOnce, source_.count<Row>()),
          wanted_, buffer_);
    }
    return rows_.subspan(first - begin_, count);
  }
  const Row& row(std::size_t number) { return rows(number, 1).front(); }

 private:
  const RowSource source_;
  const Wanted<Row> wanted_;
  std::vector<Row> buffer_;
  std::span<const Row> rows_;
  std::size_t begin_ = 0;
};

// The hops of messages.
class Paths {
 public:
  // The wanted members of hops; without any, every path is empty and nothing is read.
  Paths(const RowSource& source, const Wanted<Hop>& wanted)
      : hops_(source, wanted), any_(wanted.any()) {}

  // The members of messages needed to find their paths.
  static Wanted<Message> of_messages() { return {&Message::first_hop, &Message::hops}; }

  // Valid until the next call.
  std::span<const Hop> operator()(const Message& message) {
    return any_ ? hops_.rows(message.first_hop, message.hops) : std::span<const Hop>();
  }

 private:
  RowWindow<Hop> hops_;
  bool any_;
};

// Calls visit(message, path, number) for every message, in their order, as for_each_row().
template <typename Visit>
void for_each_message(const RowSource& source, Wanted<Message> wanted, const Wanted<Hop>& of_path,
                      Visit&& visit) {
  Paths paths(source, of_path);
  if (of_path.any()) wanted |= Paths::of_messages();
  for_each_row(source, wanted, [&](const Message& message, std::size_t number) {
    return visit(message, paths(message), number);
  });
}

}  // namespace uctrace

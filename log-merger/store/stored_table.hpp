// Reads the wanted columns of a table of the store, a part of the rows at a time, and checks every
// part. Everything throws Failure. Private to store_read.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "log-merger/row-source/wanted.hpp"
#include "log-merger/store/store_hdf5.hpp"
#include "log-merger/store/store_ranges.hpp"
#include "log-merger/store/store_tables.hpp"

namespace uctrace::store {

[[noreturn]] inline void refuse_length(const char* column) {
  throw hdf5::Failure(std::string("reading ") + column +
                      " failed (it is not as long as its table)");
}

// Stores the values of a column into rows that already have those of its base.
template <typename Row, typename Value>
void fill(const Column<Row, Value>& column, const std::vector<Stored<Value>>& values,
          std::span<Row> rows) {
  if constexpr (std::is_enum_v<Value>) {
    const std::uint32_t end = enumerators<Value>();
    if (std::any_of(values.begin(), values.end(), [&](auto value) { return value >= end; })) {
      throw hdf5::Failure(std::string("reading ") + column.name +
                          " failed (it holds unknown values)");
    }
  }
  if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
    if (column.base != nullptr) {
      for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].*column.member = plus(values[i], rows[i].*column.base);
      }
      return;
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].*column.member = static_cast<Value>(values[i]);
  }
}

// Adds the members to which the wanted ones are stored as differences.
template <typename Row>
Wanted<Row> with_bases(Wanted<Row> wanted) {
  for_each_of(Table<Row>::columns, [&](const auto& column) {
    if (column.base != nullptr && wanted.has(column.member)) wanted |= Wanted<Row>(column.base);
  });
  return wanted;
}

// The numbers of rows of referenced tables.
class RowCounts {
 public:
  RowCounts() = default;
  // For growing tables, the rows that `run` holds.
  explicit RowCounts(const Run& run) {
    of(Unit::text) = run.texts.all().size();
    of(Unit::process) = run.processes.size();
    of(Unit::message) = run.messages.size();
    of(Unit::hop) = run.hops.size();
    of(Unit::stack) = run.stacks.size();
    of(Unit::frame) = run.frames.size();
    of(Unit::call_site) = run.call_sites.size();
    of(Unit::communicator) = run.communicators.size();
    of(Unit::mpi_call) = run.mpi_calls.size();
    of(Unit::datatype) = run.datatypes.size();
    of(Unit::gpu) = run.gpus.size();
    of(Unit::device_memory) = run.device_memory.size();
    of(Unit::nic) = run.nics.size();
    of(Unit::partition_request) = run.partition_requests.size();
    of(Unit::partition_operation) = run.partition_operations.size();
    of(Unit::library_call) = run.library_calls.size();
  }

  // Of a table that grows.
  template <typename Row>
  void set(std::size_t count) {
    if constexpr (std::is_same_v<Row, Message>) of(Unit::message) = count;
    if constexpr (std::is_same_v<Row, Hop>) of(Unit::hop) = count;
    if constexpr (std::is_same_v<Row, MpiCallRow>) of(Unit::mpi_call) = count;
    if constexpr (std::is_same_v<Row, PartitionOperation>) of(Unit::partition_operation) = count;
    if constexpr (std::is_same_v<Row, LibraryCallRow>) of(Unit::library_call) = count;
    if constexpr (std::is_same_v<Row, MessageSum>) of(Unit::message_sum) = count;
    if constexpr (std::is_same_v<Row, HopSum>) of(Unit::hop_sum) = count;
    if constexpr (std::is_same_v<Row, PathStep>) of(Unit::path_step) = count;
    if constexpr (std::is_same_v<Row, TrafficClass>) of(Unit::traffic_class) = count;
    if constexpr (std::is_same_v<Row, ClassStep>) of(Unit::class_step) = count;
    if constexpr (std::is_same_v<Row, TrafficCell>) of(Unit::cell) = count;
    if constexpr (std::is_same_v<Row, CellTotal>) of(Unit::cell_total) = count;
    if constexpr (std::is_same_v<Row, CallGroup>) of(Unit::call_group) = count;
  }

  std::size_t of(Unit unit) const { return counts_[static_cast<std::size_t>(unit)]; }

 private:
  std::size_t& of(Unit unit) { return counts_[static_cast<std::size_t>(unit)]; }

  std::array<std::size_t, static_cast<std::size_t>(Unit::library_call) + 1> counts_{};
};

[[noreturn]] inline void refuse_reference(const std::string& table, const std::string& column) {
  throw hdf5::Failure("checking " + table + "/" + column +
                      " failed (it points outside of its table)");
}

// The end of the ranges of the rows read last, for the next ones.
struct RangesRead {
  std::size_t rows = 0;  // number of the row behind them
  std::uint64_t end = 0;
};

// Checks that the ranges of rows from `first` on are inside their table, which has `end` rows, and
// follow each other: so in total they are no longer than the table.
template <typename Row>
void check_ranges(std::size_t end, std::size_t first, std::span<const Row> rows,
                  const Wanted<Row>& wanted, RangesRead& before) {
  constexpr std::uint64_t kLongest = std::uint64_t{1} << 16;  // Hop::hop counts no further
  constexpr Range<Row> range = range_of<Row>();
  if (!wanted.has(range.first) || !wanted.has(range.count)) return;
  const auto refuse = [&](const char* why) {
    throw hdf5::Failure(std::string("checking ") + Table<Row>::name + "/" + range.name +
                        " failed (" + why + ")");
  };
  RangesRead read{first + rows.size(), before.rows == first ? before.end : 0};
  for (const Row& row : rows) {
    const std::uint64_t begin = row.*range.first, count = row.*range.count;
    if (begin + count > end) refuse("it points outside of its table");
    if (count == 0) continue;
    if (count > kLongest) refuse("a path is longer than any can be");
    if (begin < read.end) refuse("two rows have a part in common");
    read.end = begin + count;
  }
  before = read;
}

// Checks the wanted members: each text id and row number is valid, and times are within limits.
template <typename Row>
void check_references(const RowCounts& counts, std::span<const Row> rows,
                      const Wanted<Row>& wanted) {
  for_each_of(Table<Row>::columns, [&]<typename Value>(const Column<Row, Value>& column) {
    if constexpr (std::is_same_v<Value, std::int64_t>) {
      const auto is_far = [&](const Row& row) {
        const std::int64_t ns = row.*column.member;
        return ns < -kFarthestNs || ns > kFarthestNs;
      };
      if (column.unit == Unit::ns && wanted.has(column.member) &&
          std::any_of(rows.begin(), rows.end(), is_far)) {
        throw hdf5::Failure(std::string("checking ") + Table<Row>::name + "/" + column.name +
                            " failed (it holds a time that cannot be)");
      }
    }
    if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
      if (column.unit != Unit::text && !is_reference(column.unit)) return;
      if (!wanted.has(column.member)) return;
      if constexpr (kHasRange<Row>) {  // an empty range may begin after the last row
        if (std::string_view(column.name) == range_of<Row>().name) return;
      }
      const std::size_t end = counts.of(column.unit);
      for (const Row& row : rows) {
        const Value value = row.*column.member;
        const bool is_none = std::is_signed_v<Value> && value == static_cast<Value>(-1);
        if (!is_none && static_cast<std::uint64_t>(value) >= end) {
          refuse_reference(Table<Row>::name, column.name);
        }
      }
    }
  });
}

// A table of numbers. A column is opened on first use and stays open: its last unpacked chunk is
// cached.
template <typename Row>
class StoredTable {
 public:
  explicit StoredTable(hid_t file)
      : group_(hdf5::open_group(file, Table<Row>::name)),
        count_(opened(std::get<0>(Table<Row>::columns)).count) {}

  std::size_t count() const { return count_; }

  void read(std::size_t first, std::span<Row> rows, const Wanted<Row>& asked) {
    const Wanted<Row> wanted = with_bases(asked);
    for_each_of(Table<Row>::columns, [&]<typename Value>(const Column<Row, Value>& column) {
      if (!wanted.has(column.member)) return;
      hdf5::Source& source = opened(column);
      if (source.count != count_) refuse_length(column.name);
      std::vector<Stored<Value>> values(rows.size());
      hdf5::read_part(source, column.name, hdf5::value_type<Stored<Value>>(), first, rows.size(),
                      values.data());
      fill(column, values, rows);
    });
  }

 private:
  template <typename Value>
  hdf5::Source& opened(const Column<Row, Value>& column) {
    const auto found = sources_.find(column.name);
    if (found != sources_.end()) return found->second;
    return sources_
        .emplace(column.name,
                 hdf5::open_values(group_, column.name, hdf5::value_type<Stored<Value>>()))
        .first->second;
  }

  hdf5::Handle group_;
  std::map<std::string, hdf5::Source, std::less<>> sources_;
  std::size_t count_;
};

}  // namespace uctrace::store

// Reading a table of the store: a part of its rows at a time, of which the wanted columns; and what
// holds of every part. Everything throws Failure. Private to store_read.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "log-merger/row-source/wanted.hpp"
#include "log-merger/store/store_hdf5.hpp"
#include "log-merger/store/store_tables.hpp"

namespace uctrace::store {

[[noreturn]] inline void refuse_length(const char* column) {
  throw hdf5::Failure(std::string("reading ") + column +
                      " failed (it is not as long as its table)");
}

// Values of a column into the rows that they are of.
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
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].*column.member = static_cast<Value>(values[i]);
  }
}

// How many rows the tables have that references lead to.
class RowCounts {
 public:
  RowCounts() = default;
  // The tables that grow count what `run` holds of them.
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
  }

  // Of a table that grows.
  template <typename Row>
  void set(std::size_t count) {
    if constexpr (std::is_same_v<Row, Message>) of(Unit::message) = count;
    if constexpr (std::is_same_v<Row, Hop>) of(Unit::hop) = count;
    if constexpr (std::is_same_v<Row, MpiCallRow>) of(Unit::mpi_call) = count;
    if constexpr (std::is_same_v<Row, MessageSum>) of(Unit::message_sum) = count;
    if constexpr (std::is_same_v<Row, HopSum>) of(Unit::hop_sum) = count;
  }

  std::size_t of(Unit unit) const { return counts_[static_cast<std::size_t>(unit)]; }

 private:
  std::size_t& of(Unit unit) { return counts_[static_cast<std::size_t>(unit)]; }

  std::array<std::size_t, static_cast<std::size_t>(Unit::hop_sum) + 1> counts_{};
};

// That the hops of each row lie in their table, which has `end` rows.
template <typename Row>
void check_ranges(std::size_t end, std::span<const Row> rows, const Wanted<Row>& wanted) {
  if (!wanted.has(&Row::first_hop) || !wanted.has(&Row::hops)) return;
  for (const Row& row : rows) {
    if (std::uint64_t{row.first_hop} + row.hops > end) {
      throw hdf5::Failure(std::string("checking ") + Table<Row>::name +
                          "/first_hop failed (it points outside of its table)");
    }
  }
}

// Of the wanted members: that each text id and row number leads into its table.
template <typename Row>
void check_references(const RowCounts& counts, std::span<const Row> rows,
                      const Wanted<Row>& wanted) {
  for_each_of(Table<Row>::columns, [&]<typename Value>(const Column<Row, Value>& column) {
    if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
      if (column.unit != Unit::text && !is_reference(column.unit)) return;
      if (!wanted.has(column.member)) return;
      const std::size_t end = counts.of(column.unit);
      for (const Row& row : rows) {
        const Value value = row.*column.member;
        const bool is_none = std::is_signed_v<Value> && value == static_cast<Value>(-1);
        if (!is_none && static_cast<std::uint64_t>(value) >= end) {
          throw hdf5::Failure(std::string("checking ") + Table<Row>::name + "/" + column.name +
                              " failed (it points outside of its table)");
        }
      }
    }
  });
  if constexpr (std::is_same_v<Row, Message>) check_ranges(counts.of(Unit::hop), rows, wanted);
  if constexpr (std::is_same_v<Row, MessageSum>) {
    check_ranges(counts.of(Unit::hop_sum), rows, wanted);
  }
}

// A table of numbers. A column is opened when it is first asked for, and stays open: HDF5 keeps the
// chunk of it that was unpacked last.
template <typename Row>
class StoredTable {
 public:
  explicit StoredTable(hid_t file)
      : group_(hdf5::open_group(file, Table<Row>::name)),
        count_(opened(std::get<0>(Table<Row>::columns)).count) {}

  std::size_t count() const { return count_; }

  void read(std::size_t first, std::span<Row> rows, const Wanted<Row>& wanted) {
    for_each_of(Table<Row>::columns, [&]<typename Value>(const Column<Row, Value>& column) {
      if (!wanted.has(column.member)) return;
      const hdf5::Source& source = opened(column);
      if (source.count != count_) refuse_length(column.name);
      std::vector<Stored<Value>> values(rows.size());
      hdf5::read_part(source, column.name, hdf5::value_type<Stored<Value>>(), first, rows.size(),
                      values.data());
      fill(column, values, rows);
    });
  }

 private:
  template <typename Value>
  const hdf5::Source& opened(const Column<Row, Value>& column) {
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

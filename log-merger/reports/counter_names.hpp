// Names for the numbers in a process's rows, shared by all outputs of counters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "event-log/reader/counted_sides.hpp"
#include "event-log/reader/counter_file.hpp"
#include "log-merger/reports/table.hpp"

namespace uctrace {

using CounterNames = std::map<std::uint32_t, std::string>;

// "#N" if the file has no name for N.
std::string counted_name(const CounterNames& names, std::uint64_t number);

// Its rank as a number if that identifies it, else its label; null for nobody.
Cell side_cell(const log::CountedSides& sides, const log::CountedSide& side);
// Its rank, for tables that also identify the process; null without one.
Cell rank_cell(const log::CountedSide& side);

// Of a row of kind `interface`.
struct CountedOperation {
  std::string transport, device;  // no device if the interface has no name
  std::string_view operation;
};
CountedOperation counted_operation(const log::CounterSnapshot& process, std::uint64_t subject);
constexpr std::uint32_t counted_interface(std::uint64_t subject) {
  return static_cast<std::uint32_t>(subject);
}

// Of a row of kind `gpu`.
struct CountedData {
  std::string gpu, bus;     // "GPU-..." and its PCI address; empty: not known
  std::string_view memory;  // gpu, managed, unknown
  std::string_view data;    // sent, received: from that memory, and into it
};
CountedData counted_data(const log::CounterSnapshot& process, std::uint64_t subject);

// "one-to-all", ... of a kind that counts collective calls by communicator.
constexpr bool is_collective_kind(log::CounterKind kind) {
  return kind >= log::CounterKind::one_to_all && kind <= log::CounterKind::all_to_all;
}
std::string_view collective_name(log::CounterKind kind);

// Whether rows of a kind have sizes: the class has the same name.
constexpr bool has_sizes(log::CounterKind kind) {
  return kind >= log::CounterKind::external && kind <= log::CounterKind::one_sided_received;
}

}  // namespace uctrace

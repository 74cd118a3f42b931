// How a table of the store is declared: its columns, and the meaning of their numbers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace uctrace::store {

// The meaning of a column's numbers; loading checks references.
enum class Unit : std::uint8_t {
  none,
  bytes,
  ns,                   // on the job clock, -1 = not known
  rank,                 // world rank
  address,              // of memory
  bits,                 // 64 bits with a meaning as a whole
  text,                 // row of `texts`
  process,              // row of `processes`, -1 = none if the column is signed
  message,              // row of `messages`, likewise
  hop,                  // row of `hops`
  stack,                // row of `stacks`, -1 = none
  frame,                // row of `frames`
  stack_frame,          // row of `stack_frames`
  call_site,            // row of `call_sites`, -1 = none
  communicator,         // row of `communicators`, -1 = none
  member,               // row of `communicator_members`
  mpi_call,             // row of `mpi_calls`, -1 = none
  datatype,             // row of `datatypes`, -1 = none
  gpu,                  // row of `gpus`, -1 = none
  device_memory,        // row of `device_memory`, -1 = none
  nic,                  // row of `nics`, -1 = none
  message_sum,          // row of `message_sums`, -1 = none
  hop_sum,              // row of `hop_sums`
  path_step,            // row of `path_steps`
  traffic_class,        // row of `traffic_classes`
  class_step,           // row of `class_steps`
  cell,                 // row of `cells`, -1 = none if the column is signed
  cell_total,           // row of `cell_totals`, likewise
  call_group,           // row of `call_groups`, likewise
  partition_request,    // row of `partition_requests`, -1 = none
  partition_operation,  // row of `partition_operations`, -1 = none
  library_call,         // row of `library_calls`, -1 = none
};

constexpr const char* name_of(Unit unit) {
  constexpr const char* kNames[] = {"",
                                    "bytes",
                                    "ns",
                                    "rank",
                                    "address",
                                    "bits",
                                    "text",
                                    "process",
                                    "message",
                                    "hop",
                                    "stack",
                                    "frame",
                                    "stack_frame",
                                    "call_site",
                                    "communicator",
                                    "member",
                                    "mpi_call",
                                    "datatype",
                                    "gpu",
                                    "device_memory",
                                    "nic",
                                    "message_sum",
                                    "hop_sum",
                                    "path_step",
                                    "traffic_class",
                                    "class_step",
                                    "cell",
                                    "cell_total",
                                    "call_group",
                                    "partition_request",
                                    "partition_operation",
                                    "library_call"};
  return kNames[static_cast<std::size_t>(unit)];
}

// Whether it is a row number, -1 = none if the column is signed.
constexpr bool is_reference(Unit unit) {
  return unit == Unit::process || unit == Unit::message || unit == Unit::stack ||
         unit == Unit::frame || unit == Unit::call_site || unit == Unit::communicator ||
         unit == Unit::mpi_call || unit == Unit::datatype || unit == Unit::gpu ||
         unit == Unit::device_memory || unit == Unit::nic || unit == Unit::message_sum ||
         unit == Unit::path_step || unit == Unit::traffic_class || unit == Unit::cell ||
         unit == Unit::cell_total || unit == Unit::call_group || unit == Unit::partition_request ||
         unit == Unit::partition_operation || unit == Unit::library_call;
}

// Whether HDF5 groups the first bytes of all values, then the second ones, before packing. That
// helps for numbers close to each other. It hurts if few different long values repeat as a whole.
constexpr bool is_shuffled(Unit unit) {
  return unit != Unit::address && unit != Unit::bits && unit != Unit::datatype;
}

template <typename Row, typename Value>
struct Column {
  const char* name;  // of the dataset
  Value Row::*member;
  Unit unit;
  const char* meaning;
  // The dataset holds the difference between the member and this one, which has an earlier column.
  Value Row::*base = nullptr;
};
template <typename Row, typename Value>
constexpr Column<Row, Value> column(const char* name, Value Row::*member, const char* meaning,
                                    Unit unit = Unit::none) {
  return {name, member, unit, meaning};
}
// Two close numbers of a row take less room as one number and a difference. The name is
// "A_minus_B".
template <typename Row, std::integral Value>
constexpr Column<Row, Value> difference(const char* name, Value Row::*member, Value Row::*base,
                                        const char* meaning, Unit unit) {
  return {name, member, unit, meaning, base};
}

// Differences may overflow their type; the original values are still restored.
template <std::integral Value>
constexpr Value minus(Value a, Value b) {
  using Unsigned = std::make_unsigned_t<Value>;
  return static_cast<Value>(static_cast<Unsigned>(a) - static_cast<Unsigned>(b));
}
template <std::integral Value>
constexpr Value plus(Value a, Value b) {
  using Unsigned = std::make_unsigned_t<Value>;
  return static_cast<Value>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
}

template <typename Row>
struct Table;  // name, columns

template <typename Row, typename... Rows>
inline constexpr bool kIsOneOf = (std::is_same_v<Row, Rows> || ...);

template <typename Columns, typename Visit>
void for_each_of(const Columns& items, Visit&& visit) {
  std::apply([&](const auto&... item) { (visit(item), ...); }, items);
}

// The file type of a member: enumerations and booleans as one byte.
template <typename Value>
using Stored =
    typename std::conditional_t<std::is_enum_v<Value> || std::is_same_v<Value, bool>,
                                std::type_identity<std::uint8_t>, std::type_identity<Value>>::type;

// The number of values of an enumeration of the model: those with a name.
template <typename Enum>
std::uint32_t enumerators() {
  std::uint32_t count = 0;
  while (std::string_view(name_of(static_cast<Enum>(count))) != "?") ++count;
  return count;
}

// The attribute that identifies a store, and that of the version that made it.
inline constexpr const char* kSchemaAttribute = "uctrace_schema";
inline constexpr const char* kToolVersionAttribute = "tool_version";

}  // namespace uctrace::store

// Declared limits of the store's numbers besides their units: reading checks them, and tests make
// runs within them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "log-merger/store/store_tables.hpp"

namespace uctrace::store {

// Times can be subtracted from each other.
inline constexpr std::int64_t kFarthestNs = (std::int64_t{1} << 62) - 1;

// A range of rows in another table: [first, first + count).
template <typename Row>
struct Range {
  const char* name;  // of the column `first`
  std::uint32_t Row::*first;
  std::uint32_t Row::*count;
  Unit unit;
};
template <typename Row>
inline constexpr bool kHasRange = kIsOneOf<Row, Message, MessageSum, TrafficClass, TrafficCell>;
template <typename Row>
constexpr Range<Row> range_of() {
  if constexpr (std::is_same_v<Row, Message>)
    return {"first_hop", &Row::first_hop, &Row::hops, Unit::hop};
  if constexpr (std::is_same_v<Row, MessageSum>)
    return {"first_hop", &Row::first_hop, &Row::hops, Unit::hop_sum};
  if constexpr (std::is_same_v<Row, TrafficClass>)
    return {"first_step", &Row::first_step, &Row::steps, Unit::class_step};
  if constexpr (std::is_same_v<Row, TrafficCell>)
    return {"first_total", &Row::first_total, &Row::totals, Unit::cell_total};
}

}  // namespace uctrace::store

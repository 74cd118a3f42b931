// Makes table cells from the values of a run's rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "log-merger/model/model.hpp"
#include "log-merger/reports/table.hpp"

namespace uctrace {

inline Cell text_cell(const Run& run, TextId id) {
  return id == kNoText ? Cell{} : Cell{run.texts[id]};
}

inline Cell number_cell(const std::optional<std::uint64_t>& number) {
  return number ? Cell{*number} : Cell{};
}

// A duration: clock errors may make it negative.
inline Cell time_cell(std::int64_t ns) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, ns));
}

// Empty for zero events.
inline Cell mean_time_cell(std::int64_t sum_ns, std::uint64_t count) {
  return count == 0 ? Cell{}
                    : Cell{static_cast<std::uint64_t>(std::max<std::int64_t>(0, sum_ns)) / count};
}

}  // namespace uctrace

// Cells of tables out of the values that rows of a run hold.
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

// A duration: clocks that disagree may make one negative.
inline Cell time_cell(std::int64_t ns) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, ns));
}

// Of no events there is none.
inline Cell mean_time_cell(std::int64_t sum_ns, std::uint64_t count) {
  return count == 0 ? Cell{}
                    : Cell{static_cast<std::uint64_t>(std::max<std::int64_t>(0, sum_ns)) / count};
}

}  // namespace uctrace

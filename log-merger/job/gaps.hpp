// Questions about the gaps of a log. Private to log-merger/.
#pragma once

#include <algorithm>
#include <cstdint>

#include "log-merger/job/recorded.hpp"

namespace uctrace::merge {

// Whether events between two ticks may be missing by the user's choice.
inline bool has_gap_between(const Recorded& recorded, std::uint64_t begin, std::uint64_t end) {
  const auto first = std::partition_point(recorded.gaps.begin(), recorded.gaps.end(),
                                          [=](const Gap& gap) { return gap.end_tick <= begin; });
  return first != recorded.gaps.end() && first->begin_tick < end;
}

}  // namespace uctrace::merge

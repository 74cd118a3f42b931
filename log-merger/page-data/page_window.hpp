// The span of time that a page is of.
#pragma once

#include <cstdint>

#include "log-merger/model/model.hpp"

namespace uctrace {

// [from_ns, to_ns) of the job clock; `is_part`: of a longer run.
struct PageWindow {
  std::int64_t from_ns = 0, to_ns = 0;
  bool is_part = false;

  // What has no known time belongs to the whole run alone, as for the command line.
  bool takes(std::int64_t time_ns) const {
    return time_ns < 0 ? !is_part : time_ns >= from_ns && time_ns < to_ns;
  }
  // Whether something in progress from start to end, neither before 0, is in progress here.
  bool overlaps(std::int64_t start_ns, std::int64_t end_ns) const {
    return start_ns >= 0 && start_ns < to_ns && end_ns >= from_ns;
  }
};

// Until when an operation is in progress: the end of the span if its end was not recorded.
inline std::int64_t end_or(std::int64_t end_ns, std::int64_t to_ns) {
  return end_ns < 0 ? to_ns : end_ns;
}
inline std::int64_t end_of(const Transfer& transfer) {
  return transfer.t_complete_ns >= 0 ? transfer.t_complete_ns : transfer.t_end_ns;
}

}  // namespace uctrace

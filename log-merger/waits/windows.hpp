// Which window of a process is the same as which of another. For the waits and hangs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// All processes make the windows of a communicator in one order: so they are told by their number
// among those of the communicator.
class NumbersOfWindows {
 public:
  explicit NumbersOfWindows(const ProcessLog& log) : numbers_(log.windows.size()) {
    std::vector<WindowIndex> order = log.windows.indexes().list();
    const auto key = [&](WindowIndex window) {
      return std::tuple(log.windows[window].comm, log.windows[window].tick);
    };
    std::sort(order.begin(), order.end(),
              [&](WindowIndex a, WindowIndex b) { return key(a) < key(b); });
    std::size_t first = 0;  // of the communicator
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (log.windows[order[i]].comm != log.windows[order[first]].comm) first = i;
      const bool is_next = i == first || key(order[i]) != key(order[i - 1]);
      numbers_[order[i]] = is_next ? static_cast<std::int32_t>(i - first) : numbers_[order[i - 1]];
    }
  }

  std::int32_t of(WindowIndex window) const { return numbers_[window]; }

 private:
  ByIndex<CommObject, std::int32_t> numbers_;
};

}  // namespace uctrace::merge

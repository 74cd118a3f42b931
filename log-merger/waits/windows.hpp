// Which window of a process is the same as which of another. For the waits and hangs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// All processes make the windows of a communicator in one order: so they are told by their number
// among those of the communicator.
class NumbersOfWindows {
 public:
  explicit NumbersOfWindows(const ProcessLog& log) : log_(log) {}

  std::int32_t of(WindowIndex window) {
    const auto [place, fresh] = known_.try_emplace(window);
    if (fresh) {
      const CommObject& own = log_.windows[window];
      place->second = static_cast<std::int32_t>(
          std::count_if(log_.windows.begin(), log_.windows.end(), [&](const CommObject& other) {
            return other.comm == own.comm && other.tick < own.tick;
          }));
    }
    return place->second;
  }

 private:
  const ProcessLog& log_;
  std::unordered_map<WindowIndex, std::int32_t> known_;
};

}  // namespace uctrace::merge

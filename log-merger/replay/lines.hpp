// The threads of all processes, numbered. Private to the replay.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "log-merger/replay/replay.hpp"

namespace uctrace::replay {

// Lines are numbered by process, then lane: 0, 1, ...
class Lines {
 public:
  Lines(const std::vector<Call>& calls, std::size_t processes) : first_(processes + 1, 0) {
    std::vector<std::vector<std::uint16_t>> lanes(processes);
    for (const Call& call : calls) {
      auto& of_process = lanes[call.process];
      const auto place = std::lower_bound(of_process.begin(), of_process.end(), call.lane);
      if (place == of_process.end() || *place != call.lane) of_process.insert(place, call.lane);
    }
    for (std::size_t i = 0; i < processes; ++i) {
      lanes_.insert(lanes_.end(), lanes[i].begin(), lanes[i].end());
      first_[i + 1] = static_cast<std::uint32_t>(lanes_.size());
    }
  }

  std::size_t count() const { return lanes_.size(); }

  bool has_several(std::uint32_t process) const {
    return first_[process + 1] - first_[process] > 1;
  }

  std::uint32_t of(const Call& call) const {
    const std::uint32_t first = first_[call.process];
    if (!has_several(call.process)) return first;
    const auto place = std::lower_bound(lanes_.begin() + first,
                                        lanes_.begin() + first_[call.process + 1], call.lane);
    return static_cast<std::uint32_t>(place - lanes_.begin());
  }

 private:
  std::vector<std::uint32_t> first_;  // line of each process, and their number
  std::vector<std::uint16_t> lanes_;  // by line
};

}  // namespace uctrace::replay

#include "log-merger/exports/lanes.hpp"

#include <algorithm>

namespace uctrace::exports {

std::size_t Lanes::take(std::int64_t start_ns, std::int64_t end_ns) {
  const std::size_t lane = first_free(start_ns);
  if (lane == busy_until_.size()) busy_until_.push_back(0);
  busy_until_[lane] = std::max(start_ns, end_ns);
  busy_.emplace(busy_until_[lane], lane);
  return lane;
}

std::size_t Lanes::first_free(std::int64_t start_ns) {
  // For an earlier start, a lane that is free now may not have been free then.
  const bool in_order = start_ns >= last_start_ns_;
  if (!in_order) return busy_until_.size();
  last_start_ns_ = start_ns;
  while (!busy_.empty() && busy_.top().first <= start_ns) {
    free_.push(busy_.top().second);
    busy_.pop();
  }
  if (free_.empty()) return busy_until_.size();
  const std::size_t lane = free_.top();
  free_.pop();
  return lane;
}

}  // namespace uctrace::exports

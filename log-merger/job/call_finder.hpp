// Finds the MPI call that a thread was in, for many queries. Private to log-merger/.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// The same as call_around(). Queries for a lane are mostly in the order of time, so the answer is
// at or next to the last one.
class CallFinder {
 public:
  explicit CallFinder(const Job& job) : job_(job) {}

  CallIndex around(ProcessIndex process, std::uint16_t lane, std::uint64_t tick) {
    if (process != process_) {
      process_ = process;
      places_.clear();
    }
    const auto& lanes = job_.logs[process].calls_of_lane;
    if (lane >= lanes.size()) return kNone;
    if (lane >= places_.size()) places_.resize(lane + std::size_t{1});
    const std::vector<CallIndex>& calls = lanes[lane];
    std::size_t& later = places_[lane];
    if (!is_first_later(calls, later, tick) && !is_first_later(calls, ++later, tick)) {
      later = static_cast<std::size_t>(
          std::upper_bound(
              calls.begin(), calls.end(), tick,
              [&](std::uint64_t t, CallIndex call) { return t < start_of(call); }) -
          calls.begin());
    }
    if (later == 0) return kNone;
    return tick <= job_.calls[calls[later - 1]].end_tick ? calls[later - 1] : kNone;
  }

 private:
  std::uint64_t start_of(CallIndex call) const { return job_.calls[call].start_tick; }

  // Whether the call at `place`, which may be the end, is the first that began after `tick`.
  bool is_first_later(const std::vector<CallIndex>& calls, std::size_t place,
                      std::uint64_t tick) const {
    return place <= calls.size() && (place == 0 || start_of(calls[place - 1]) <= tick) &&
           (place == calls.size() || tick < start_of(calls[place]));
  }

  const Job& job_;
  ProcessIndex process_;
  std::vector<std::size_t> places_;  // by lane: the first call that began after the last query
};

}  // namespace uctrace::merge

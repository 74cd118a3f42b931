// The points from which sends and receives can be counted, in a job with events missing by the
// user's choice. Private to log-merger/.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// A part of the run with all events of all processes in the logs. `quiescent_before`: nothing was
// on its way at its beginning, so its first receive of a kind took its first send.
// `quiescent_after`: nothing was on its way at its end, so the last receive took the last send.
struct WholePart {
  std::int64_t begin_ns = INT64_MIN, end_ns = INT64_MAX;
  bool quiescent_before = false, quiescent_after = false;
  bool holds(std::int64_t at_ns) const { return begin_ns <= at_ns && at_ns < end_ns; }
};

// By time, and split wherever nothing was on its way. `sent_by`: tag_send or am_send.
std::vector<WholePart> whole_parts(const Job& job, log::UcpFamily sent_by);

}  // namespace uctrace::merge

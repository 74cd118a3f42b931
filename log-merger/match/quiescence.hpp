// Where sends and receives can be counted from, in a job of which events are missing by the user's
// wish. Private to log-merger/.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// A part of the run of which all events of all processes are in the logs. `quiescent_before`:
// nothing was on its way when it began, so that its first receive of a kind took its first send;
// `quiescent_after`: nor when it ended, so that the last took the last.
struct WholePart {
  std::int64_t begin_ns = INT64_MIN, end_ns = INT64_MAX;
  bool quiescent_before = false, quiescent_after = false;
  bool holds(std::int64_t at_ns) const { return begin_ns <= at_ns && at_ns < end_ns; }
};

// By time, and cut wherever nothing was on its way. `sent_by`: tag_send or am_send.
std::vector<WholePart> whole_parts(const Job& job, log::UcpFamily sent_by);

}  // namespace uctrace::merge

// The tool's own traffic in a job of several hosts: one leader per host measures its clock against
// the others' with messages that are recorded like any others.
#pragma once

#include "tests/tracegen/process_log.hpp"

namespace uctrace::tracegen {

// Returns when all are done; a process that leads no host does nothing.
std::int64_t measure_clocks(ProcessLog& log, log::ClockSample::End end, std::int64_t begin_ns);
// How long that takes, of all.
std::int64_t measuring_ns(const Shape& shape);

}  // namespace uctrace::tracegen

// What the tool itself does in a job of several hosts: leaders of hosts measure their clocks
// against each other, by messages that the recorder records like others.
#pragma once

#include "tests/tracegen/process_log.hpp"

namespace uctrace::tracegen {

// Returns when all are done; a process that leads no host does nothing.
std::int64_t measure_clocks(ProcessLog& log, log::ClockSample::End end, std::int64_t begin_ns);
// How long that takes, of all.
std::int64_t measuring_ns(const Shape& shape);

}  // namespace uctrace::tracegen

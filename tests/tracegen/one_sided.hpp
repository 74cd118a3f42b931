// Steps of one-sided communication, of the program's own active messages, and of streams.
#pragma once

#include "tests/tracegen/process_log.hpp"

namespace uctrace::tracegen {

void one_sided_step(ProcessLog& log, const Step& step);
void active_step(ProcessLog& log, const Step& step, std::uint16_t lane);
void stream_step(ProcessLog& log, const Step& step);

}  // namespace uctrace::tracegen

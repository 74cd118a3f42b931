// `uctrace check --run DIR --expect ...`: whether a recorded run took the transports that it was to
// take.
#pragma once

#include "cli/verbs.hpp"

namespace uctrace::cli::check {

// Prints it; the exit status of the command.
int check_recorded_run(const CheckCommand& command);

}  // namespace uctrace::cli::check

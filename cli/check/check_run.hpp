// `uctrace check --run DIR --expect ...`: whether a recorded run used the expected transports.
#pragma once

#include "cli/verbs.hpp"

namespace uctrace::cli::check {

// Prints it; the exit status of the command.
int check_recorded_run(const CheckCommand& command);

}  // namespace uctrace::cli::check

// Runs the recorded program as if `record` were not there: same terminal, same signals, same stops.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/launching/group_witness.hpp"
#include "cli/launching/held_signals.hpp"

namespace uctrace::cli {

struct ProgramEnd {
  int exit_status = 0;  // as a shell counts: 128 + signal if killed by one
  int signal = 0;       // 0 = the program ended by itself
  int exec_errno = 0;   // not 0 = it could not be started
};

// Waits for the end of the program. Signals that only this process got are passed on to it. If the
// program stops for its terminal, this process stops as well. Call it from a single-threaded
// process. `every_five_seconds` must not throw.
ProgramEnd run_program(const std::vector<std::string>& program, const HeldSignals& held,
                       GroupWitness& witness, const std::function<void()>& every_five_seconds);

}  // namespace uctrace::cli

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

// Waits for the end of the program. What signals this process gets, and the program did not, are
// passed on to it; with a program that stops for its terminal this process stops as well. Call from
// a process of one thread. `every_five_seconds` must not throw.
ProgramEnd run_program(const std::vector<std::string>& program, const HeldSignals& held,
                       GroupWitness& witness, const std::function<void()>& every_five_seconds);

}  // namespace uctrace::cli

// The verbs. Each returns the exit status of the command, and throws Error if it cannot do its
// work. Results go to standard output, everything else to standard error.
#pragma once

#include "cli/command-line/command_line.hpp"

namespace uctrace::cli {

// Failures of the tool itself, numbered as in env(1) and timeout(1).
enum ExitStatus : int {
  kOk = 0,
  kIdentityViolated = 1,
  kProblemFound = 1,
  kToolFailed = 125,
  kNotExecutable = 126,
  kNotFound = 127,
};

int run(const CheckCommand& command);   // kProblemFound if there is one
int run(const RecordCommand& command);  // the program's own status, 128 + signal if killed
int run(const MergeCommand& command);
int run(const ReportCommand& command);
int run(const MessagesCommand& command);
int run(const DiffCommand& command);
int run(const CommsCommand& command);
int run(const WaitsCommand& command);
int run(const SimulateCommand& command);
int run(const PartitionsCommand& command);
int run(const CountersCommand& command);
int run(const TopCommand& command);
int run(const ServeCommand& command);
int run(const PlacementCommand& command);
int run(const HangCommand& command);
int run(const InfoCommand& command);  // kIdentityViolated if one is
int run(const ViewCommand& command);
int run(const ExportCommand& command);
int run(const BuildUcxCommand& command);  // 128 + signal if interrupted
int run(const ValuesCommand& command);
int run(const PrintCommand& command);

}  // namespace uctrace::cli

// The variables that uctrace offers through MPI_T with `record --counters`: those of Open MPI's
// monitoring
// ("Online Dynamic Monitoring of MPI Communications"), by their names and classes.
// docs/counters.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi-attribution/call.h"

namespace uctrace::mpi {

// The subject of a performance variable.
enum class Told : std::uint8_t {
  external,  // for each peer of a communicator
  one_sided_sent,
  one_sided_received,
  collective,
  one_to_all,  // of the calls on a communicator
  all_to_one,
  all_to_all,
  profile,  // a file is written
};

struct PerformanceVariable {
  const char* name;
  const char* description;
  std::int32_t UctraceFlavour::*of_class;
  Told told;
  bool bytes;  // else messages, or calls

  bool is_by_peer() const { return told <= Told::collective; }
};

struct ControlVariable {
  const char* name;
  const char* description;
  bool is_text;  // else an int
};

// Room for a text of a variable, with the terminating zero.
inline constexpr std::size_t kVariableText = 1024;

enum ControlNumber : int { kEnable, kEnableOutput, kFileName, kControlVariables };
extern const ControlVariable control_variables[kControlVariables];

inline constexpr int kPerformanceVariables = 15;
extern const PerformanceVariable performance_variables[kPerformanceVariables];

}  // namespace uctrace::mpi

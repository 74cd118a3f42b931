// What a replay needs of a stored run. Private to the simulation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "log-merger/replay/replay.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

// A lane of a row as the replay has it. The recorder has far fewer; a damaged store may name any.
inline std::uint16_t lane_of(std::uint32_t lane) {
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(lane, UINT16_MAX));
}

// Of ranks of which several threads call MPI.
struct Threads {
  std::vector<bool> several;            // by process
  std::uint64_t calls = 0, serial = 0;  // of these processes; of them, replay::Call::serial
};

struct RecordedCalls {
  // By the rows of /mpi_calls.
  std::vector<replay::Call> calls;
  std::vector<TextId> functions;
  std::vector<std::int32_t> call_sites;  // into Run::call_sites, -1 = none
  std::vector<bool> waits_for_unknown;   // for what is no dependency
  std::vector<replay::Dependency> dependencies;
  std::size_t operations = 0;  // numbers of operations in these
  Threads threads;
  std::size_t ranks_without_calls = 0;  // of which some were not recorded
};

// Throws Error where the run has no calls, or more than a replay can number. About 60 bytes a call
// and 24 a dependency, which are all in memory at once.
RecordedCalls recorded_calls(const RowSource& source);

// Of each process, by time: when it left the operations that synchronise all processes that call
// MPI, which blocked all of them.
std::vector<std::vector<std::int64_t>> synchronisations(const RecordedCalls& recorded,
                                                        std::size_t processes);

}  // namespace uctrace

// The parts of a stored run that a replay needs. Private to the simulation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "log-merger/replay/replay.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

// A row's lane for the replay. The recorder has far fewer; a damaged store may name any.
inline std::uint16_t lane_of(std::uint32_t lane) {
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(lane, UINT16_MAX));
}

// For ranks with several threads that call MPI.
struct Threads {
  std::vector<bool> several;            // by process
  std::uint64_t calls = 0, serial = 0;  // of these processes; those with replay::Call::serial
};

struct RecordedCalls {
  // By the rows of /mpi_calls.
  std::vector<replay::Call> calls;
  std::vector<TextId> functions;
  std::vector<std::int32_t> call_sites;  // into Run::call_sites, -1 = none
  std::vector<bool> waits_for_unknown;   // for something that is not a dependency
  std::vector<replay::Dependency> dependencies;
  std::size_t operations = 0;  // numbers of operations in these
  Threads threads;
  std::size_t ranks_without_calls = 0;  // with some calls not recorded
};

// Throws Error if the run has no calls, or more than a replay can number. All are in memory: about
// 60 bytes per call and 24 per dependency.
RecordedCalls recorded_calls(const RowSource& source);

// For each process, by time: when it left the blocking operations that synchronise all processes
// that call MPI.
std::vector<std::vector<std::int64_t>> synchronisations(const RecordedCalls& recorded,
                                                        std::size_t processes);

}  // namespace uctrace

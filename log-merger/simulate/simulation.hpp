// Replays a stored run, as recorded and under hypotheses. docs/simulate.md has the formulas.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "log-merger/row-source/row_source.hpp"
#include "log-merger/simulate/hypotheses.hpp"

namespace uctrace {

// From the end of MPI_Init to the start of MPI_Finalize, nanoseconds.
struct SimulatedRank {
  std::uint32_t process = 0;
  std::int64_t measured_ns = 0;  // by Run::rank_times
  std::int64_t replay_ns = 0;    // replayed as it was
  std::int64_t predicted_ns = 0;
  // Of these, outside MPI; -1 = not known, because of several threads.
  std::int64_t computing_ns = 0, predicted_computing_ns = 0;
};

// Something that keeps its measured time, or may not be accurate.
struct NotReplayed {
  std::string what;
  std::uint64_t count = 0;
  std::int64_t ns = -1;  // -1: it has no time of its own
};

struct Simulation {
  // From the first end of an MPI_Init to the last start of an MPI_Finalize.
  std::int64_t measured_ns = 0, replay_ns = 0, predicted_ns = 0;
  std::vector<SimulatedRank> ranks;      // by process
  std::vector<std::string> hypotheses;   // each in words
  std::vector<std::string> assumptions;  // likewise
  std::vector<NotReplayed> not_replayed;
  std::uint64_t calls = 0, dependencies = 0;  // that were replayed
};

// Throws Error for a hypothesis about names that do not occur in the run, and for a run without MPI
// calls.
Simulation simulate(const RowSource& source, const Hypotheses& hypotheses);

// Text after the last @ of Faster::asked names ranks, unless the whole text is a name of the run.
Hypotheses with_whole_names(const Run& run, const Hypotheses& hypotheses);

}  // namespace uctrace

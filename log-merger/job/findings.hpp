// Anomalies in the logs of a job and their clocks: found while loading, reported as notes for
// people and under `folder` and `clock` in info's JSON. Private to log-merger/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "log-merger/folder/log_set.hpp"

namespace uctrace::merge {

// A second log of a process. `same`: byte for byte.
struct SecondLog {
  std::string log, of;
  bool same = false;
};

// A process's count that contradicts its complete log.
struct Contradiction {
  std::string log, what;
  std::uint64_t counted = 0, recorded = 0;
};

// A log's clock that goes backward: between anchors; MPI calls that begin before the previous call
// of their thread ended; events that end before an earlier event of their thread began.
struct BackwardClock {
  std::string log;
  std::uint64_t anchors = 0, calls = 0, events = 0;
};

// Records that no process writes like this.
struct ImpossibleRecords {
  std::string log, what;
  std::uint64_t records = 0;
};

// How much a host's wall clock jumped against its monotonic clock while the job ran.
struct WallClockStep {
  std::string host;
  std::int64_t step_ns = 0;
};

// Two processes of one host with different clocks, as in containers with their own clocks.
struct ClockDisagreement {
  std::string log, with;
  std::int64_t by_ns = 0;
};

// Messages received before they were sent, by more than the clock error, between two hosts (or
// within one).
struct ViolationsOfPair {
  std::string src_host, dst_host;
  bool measured = false;  // the clock error is known
  std::uint64_t messages = 0;
  std::int64_t worst_ns = 0;
};

// For a host with GPUs: whether the distances of its devices are known.
struct HostTopology {
  std::string host;
  std::string why;  // not; empty = they are
};

struct Findings {
  std::vector<JobInFolder> jobs;
  std::vector<LeftOut> left_out;
  // Logs that could not be read, for a temporary reason.
  std::uint64_t unreadable() const {
    return static_cast<std::uint64_t>(std::count_if(
        left_out.begin(), left_out.end(),
        [](const LeftOut& file) { return file.cause == log::FileError::Cause::system; }));
  }
  std::vector<SecondLog> second_logs;
  std::uint64_t missing_ranks = 0;
  std::vector<Contradiction> contradictions;
  std::vector<ImpossibleRecords> impossible;
  std::vector<BackwardClock> backward_clocks;
  std::vector<WallClockStep> wall_clock_steps;
  std::vector<ClockDisagreement> clock_disagreements;
  std::vector<ViolationsOfPair> violations;
  std::vector<HostTopology> topologies;
  std::uint64_t early_within_error = 0;  // such messages within the clock error
  std::uint64_t doubtful_by_loss =
      0;  // messages whose partner is uncertain because records are lost
};

}  // namespace uctrace::merge

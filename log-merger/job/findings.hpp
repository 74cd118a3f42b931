// What is odd about the logs of a job and their clocks: found while loading, said as notes for
// people and under `folder` and `clock` in info's JSON. Private to log-merger/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "log-merger/folder/log_set.hpp"

namespace uctrace::merge {

// A further log of a process that has one. `same`: byte for byte.
struct SecondLog {
  std::string log, of;
  bool same = false;
};

// What a process counted, against what its whole log holds of it.
struct Contradiction {
  std::string log, what;
  std::uint64_t counted = 0, recorded = 0;
};

// A clock of a log that goes back: anchors against each other, MPI calls that begin before the one
// before them in their thread ended, and events that are over before an earlier one of their thread
// began.
struct BackwardClock {
  std::string log;
  std::uint64_t anchors = 0, calls = 0, events = 0;
};

// Records of a log that no process writes so.
struct ImpossibleRecords {
  std::string log, what;
  std::uint64_t records = 0;
};

// The wall clock of a host against its monotonic clock: how much it jumped while the job ran.
struct WallClockStep {
  std::string host;
  std::int64_t step_ns = 0;
};

// Two processes of one host that do not have the same clock, as in containers with clocks of their
// own.
struct ClockDisagreement {
  std::string log, with;
  std::int64_t by_ns = 0;
};

// Messages that were received before they were sent, by more than the clocks may be off, between
// two hosts (or within one).
struct ViolationsOfPair {
  std::string src_host, dst_host;
  bool measured = false;  // how far they may be off is known
  std::uint64_t messages = 0;
  std::int64_t worst_ns = 0;
};

// Of a host with GPUs: whether the distances of its devices are known.
struct HostTopology {
  std::string host;
  std::string why;  // not; empty = they are
};

struct Findings {
  std::vector<JobInFolder> jobs;
  std::vector<LeftOut> left_out;
  // Logs that could not be read, for a reason that may pass.
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
  std::uint64_t early_within_error =
      0;  // messages that were, by no more than the clocks may be off
  std::uint64_t doubtful_by_loss =
      0;  // messages whose partner is not certain since records are lost
};

}  // namespace uctrace::merge

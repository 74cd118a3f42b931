// Where the processes of a job sit: the MPI calls that had not returned when their logs ended or
// were read, and the receives that had taken nothing. What users ask of a job that hangs or died.
#pragma once

#include <nlohmann/json.hpp>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

struct Open {
  std::vector<const MpiCall*> calls;
  std::vector<const UcpOp*> receives;  // oldest first
  std::int64_t last_return_ns = -1;    // of the calls that are over
};

// By process; valid as long as the job's vectors stay as they are.
ByIndex<ProcessLog, Open> find_open(const Job& job);

// The keys `in_calls` and `open_receives` of a process in `info --format json` (docs/info.md).
nlohmann::ordered_json in_calls_json(const Job& job, const Open& open);
nlohmann::ordered_json open_receives_json(const Job& job, const Open& open);

// A note for each place where processes that did not end well sit.
void note_open_calls(Job& job);

}  // namespace uctrace::merge

// Where the processes of a job sit: MPI calls that had not returned when their logs ended or were
// read, and receives that had taken nothing. For jobs that hang or died.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

struct Open {
  std::vector<const MpiCall*> calls;
  std::vector<const UcpOp*> receives;  // oldest first
  std::int64_t last_return_ns = -1;    // of the finished calls
};

// By process; valid while the job's vectors do not change.
ByIndex<ProcessLog, Open> find_open(const Job& job);

// The newest instant in a log, -1 = none: its helper thread writes one every tenth of a second. For
// a running process it is earlier than the reading of its calls.
std::int64_t last_instant(const ProcessLog& log);

// "" if there is none.
std::string comm_name(const Job& job, ProcessIndex process, CommIndex comm);
// The call site: "main (app.c:41)", "" if not known.
std::string call_site(const Job& job, const MpiCall& call);

// Null if empty; a world rank or tag, "any", or null if the call has none.
nlohmann::ordered_json or_null(const std::string& text);
nlohmann::ordered_json number_or_any(std::int32_t value);

// The keys `in_calls` and `open_receives` of a process in `info --format json` (docs/info.md).
nlohmann::ordered_json in_calls_json(const Job& job, const Open& open);
nlohmann::ordered_json open_receives_json(const Job& job, const Open& open);

}  // namespace uctrace::merge

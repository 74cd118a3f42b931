// Where the processes of a job sit: the MPI calls that had not returned when their logs ended or
// were read, and the receives that had taken nothing. What users ask of a job that hangs or died.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

struct Open {
  std::vector<const MpiCall*> calls;
  std::vector<const UcpOp*> receives;  // oldest first
  std::int64_t last_return_ns = -1;    // of the calls that are over
};

// By process; valid as long as the job's vectors stay as they are.
ByIndex<ProcessLog, Open> find_open(const Job& job);

// The newest instant that a log knows of, -1 = none: its helper thread writes one every tenth of a
// second. Of a running process it is from before its calls were looked at.
std::int64_t last_instant(const ProcessLog& log);

// "" where there is none.
std::string comm_name(const Job& job, ProcessIndex process, CommIndex comm);
// Where a call was called from: "main (app.c:41)", "" where that is not known.
std::string call_site(const Job& job, const MpiCall& call);

// Null for what is empty; a world rank or a tag, "any", or null where the call has none.
nlohmann::ordered_json or_null(const std::string& text);
nlohmann::ordered_json number_or_any(std::int32_t value);

// The keys `in_calls` and `open_receives` of a process in `info --format json` (docs/info.md).
nlohmann::ordered_json in_calls_json(const Job& job, const Open& open);
nlohmann::ordered_json open_receives_json(const Job& job, const Open& open);

}  // namespace uctrace::merge

// The parts of build_rows(), in order, for callers that need the job in between. Private to
// log-merger/.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Processes, communicators, messages and their paths.
void build_messages(Job& job);

// Whether the job's operations are needed after their rows are made: otherwise they are freed to
// make room for the rows.
enum class Operations { stay, go };

void build_transfers(Job& job, Operations after);
void build_mpi_calls(Job& job);  // and the shares of waiting calls
void build_ucp_operations(Job& job, Operations after);

}  // namespace uctrace::merge

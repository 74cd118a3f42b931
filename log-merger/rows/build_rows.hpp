// The parts of build_rows(), in their order, for who looks at the job in between. Private to
// log-merger/.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Processes, communicators, messages and their paths.
void build_messages(Job& job);

// Whether anybody asks for the job's operations when there is a row for each: those that go make
// room for the rows as these are made.
enum class Operations { stay, go };

void build_transfers(Job& job, Operations after);
void build_mpi_calls(Job& job);  // and the shares of those that wait
void build_ucp_operations(Job& job, Operations after);

}  // namespace uctrace::merge

// The two halves of build_rows(), for who looks at the job in between. Private to log-merger/.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Processes, communicators, messages and their paths.
void build_messages(Job& job);

// Whether anybody asks for the job's UCT operations when there is a row for each.
enum class UctRows { stay, go };

// Transfers, UCP operations and MPI calls.
void build_operations(Job& job, UctRows after);

}  // namespace uctrace::merge

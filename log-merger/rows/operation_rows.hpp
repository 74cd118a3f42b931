// The rows of single operations. Private to log-merger/rows/.
#pragma once

#include "log-merger/job/job.hpp"
#include "log-merger/rows/build_rows.hpp"

namespace uctrace::merge {

// In this order, after the messages and their paths.
void add_transfers(Job& job, UctRows after);
void add_ucp_operations(Job& job);
void add_mpi_calls(Job& job);  // and the shares of those that wait

}  // namespace uctrace::merge

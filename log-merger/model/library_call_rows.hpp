// Calls of communication libraries above UCX other than MPI. log-merger/library/ makes the rows;
// docs/libraries.md says more.
//
// Times are nanoseconds on the job clock, -1 = not known.
#pragma once

#include <cstdint>

#include "log-merger/model/kinds.hpp"

namespace uctrace {

struct LibraryCallRow {
  std::uint32_t process = 0;
  std::uint32_t lane = 0;  // recording thread
  TextId library = kNoText, function = kNoText;
  std::int32_t peer = INT32_MIN;  // PE or rank, as the argument has it; INT32_MIN = has none
  std::int32_t status = 0;        // what it returned, if that is a status
  std::int32_t stack = -1;        // into stacks, -1 = none
  // Of UCC: which collective operation it begins, starts or ends; UCC's layers that made its tasks,
  // and by which algorithm.
  TextId collective = kNoText, layers = kNoText, algorithm = kNoText;
  std::int64_t call = -1;     // enclosing MPI call; into mpi_calls
  std::int64_t bytes = 0;     // as its arguments say, -1 = these do not tell
  std::uint64_t scope = 0;    // handle of its context or team, 0 = has none
  std::uint64_t request = 0;  // handle of its request, 0 = has none
  // UCP operations that its thread posted within it, and the bytes that they moved; then those that
  // are inferred to be for it, which are no part of these.
  std::uint64_t operations = 0, operation_bytes = 0;
  std::uint64_t inferred_operations = 0, inferred_bytes = 0;
  std::int64_t t_start_ns = -1, t_end_ns = -1;
};

}  // namespace uctrace

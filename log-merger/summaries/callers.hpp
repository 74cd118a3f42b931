// The process of an MPI call.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

// Calls of a process are adjacent in the table, so the begin of each process's calls is enough.
class Callers {
 public:
  // Costs a pass over the processes of all calls.
  explicit Callers(const RowSource& source);

  // `call`: a row of mpi_calls.
  std::int32_t process_of(std::int64_t call) const;

 private:
  struct Block {
    std::int64_t first;  // row
    std::int32_t process;
  };
  std::vector<Block> blocks_;
};

}  // namespace uctrace

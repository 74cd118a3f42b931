// Values of this process's counters, for the variables of MPI_T. These use malloc: they are called
// by tools, not for messages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/counter_file.hpp"
#include "mpi-attribution/tool_variables.hpp"

namespace uctrace::mpi {

// A copy of all rows at one time.
class CounterCopy {
 public:
  CounterCopy();
  ~CounterCopy();
  CounterCopy(const CounterCopy& other);
  CounterCopy& operator=(const CounterCopy&) = delete;

  // False: there is no memory.
  bool is_there() const { return rows_ != nullptr; }
  const log::CounterRow* begin() const { return rows_; }
  const log::CounterRow* end() const { return rows_ + count_; }

  // Sorts by subject, kind and bin, and leaves one row for each key.
  void sort();
  // Leaves what was counted since `earlier`. Both must be sorted; rows that become zero stay.
  void subtract(const CounterCopy& earlier);

 private:
  log::CounterRow* rows_;
  std::size_t count_;
};

// A sorted copy. nullptr: there is no memory.
CounterCopy* make_copy();
void free_copy(CounterCopy* copy);

// The communicator that a handle is bound to.
struct BoundComm {
  std::uint32_t number;             // of the communicator in the counters
  std::int32_t size;                // of peers
  const std::int32_t* world_ranks;  // of each peer, -1 = of another world
};

// The values of a variable: one for each peer, or a single one. False: there is no memory.
bool read_values(const PerformanceVariable& variable, const BoundComm& comm, std::uint64_t* out);

// Adds the data of collective calls for each peer, by its rank in MPI_COMM_WORLD, below `size`.
// False: there is no memory.
bool add_collectives(const CounterCopy& rows, bool bytes, std::uint64_t* by_world,
                     std::int32_t size);

}  // namespace uctrace::mpi

// Translates ranks of communicators to MPI_COMM_WORLD, for counting by peer while the job runs
// (event-log/recorder/counters.hpp). Filled when a communicator is made; a look-up takes some ns
// and calls nothing.
#pragma once

#include <cstdint>

#include "event-log/format/counter_file.hpp"
#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

struct CountedComm {
  std::uint32_t number;  // of its name in the counters
  std::int32_t size;     // of the group that data goes to: its members, or the remote group
  std::int32_t rank;     // of this process in it; in an intercommunicator, in its local group
  bool inter;
  bool is_named;                       // its list of members is in the counters
  std::int32_t first, stride;          // ranks in MPI_COMM_WORLD, if `ranks` is nullptr
  const std::int32_t* ranks;           // -1: a process of another world
  std::int32_t neighbors;              // with a topology: how many it sends to
  const std::int32_t* neighbor_ranks;  // in the communicator; may be negative: none
  std::uint64_t list_bytes;            // of the memory behind both lists
  std::uint32_t users;                 // it and its windows
  CountedComm* next_free;

  // The subject of a counter row for this rank.
  std::uint64_t peer(std::int32_t of) const {
    if (of < 0 || of >= size) return log::kUnknownPeer;
    const std::int32_t world = ranks != nullptr ? ranks[of] : first + stride * of;
    return world >= 0 ? static_cast<std::uint64_t>(world) : log::kUnknownPeer;
  }
  // The number of other ranks in a collective call.
  std::int32_t others() const { return inter ? size : size - 1; }
  bool is_other(std::int32_t of) const { return inter || of != rank; }
};

// Adds a communicator with the members of `members`: of itself, unless it is still under
// construction. Asks the library.
void count_communicator(Handle handle, Handle members, Word world_group);
void name_counted(Handle handle, const char* name);
void forget_counted(Handle handle);

void count_window(Handle window, Handle communicator);
void forget_counted_window(Handle window);

// nullptr: nothing is known of it.
const CountedComm* counted_comm(Handle handle);
const CountedComm* counted_window(Handle window);

}  // namespace uctrace::mpi

// What a collective operation moves: how many bytes this process puts in and gets out.
#pragma once

#include <cstdint>

#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

struct Volume {
  std::uint64_t bytes, recv_bytes;
};

// Asks the library about the communicator and the datatypes: only after the call has succeeded,
// which proves that its arguments are right. Arguments that MPI ignores in this process are not
// read.
//
// Counts the amount that the arguments say, once: in a broadcast the root puts in the data and all
// others get it. Different data for several processes is counted for each. With MPI_IN_PLACE the
// arguments of the other direction replace the missing ones.
Volume volume_of(const UctraceCollective& call);

}  // namespace uctrace::mpi

// What a collective operation moves: how many bytes this process hands to it and gets from it.
#pragma once

#include <cstdint>

#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

struct Volume {
  std::uint64_t bytes, recv_bytes;
};

// Asks the library about the communicator and the datatypes: only when the call has returned well,
// so that its arguments are known to be right. What MPI does not read here is not read either.
//
// Counted is what the arguments say, once: of a broadcast its root hands in the data and all others
// get it; what goes to several processes is counted for each. With MPI_IN_PLACE the arguments of
// the other direction stand for what is missing.
Volume volume_of(const UctraceCollective& call);

}  // namespace uctrace::mpi

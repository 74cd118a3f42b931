// The MPI libraries' use of UCP's 64-bit tag. The layouts are facts of Open MPI's pml/ucx (4.x,
// 5.x: tag 24, source rank 20, context 20 bits) and of MPICH's ch4/ucx (3.4-4.x: context 16, source
// rank 16, tag 32 bits). A decoded tag is trusted only if the MPI call agrees
// (log-merger/mpi/mpi_link.cpp).
#pragma once

#include <cstdint>
#include <optional>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

struct DecodedTag {
  std::uint64_t context = 0;  // of the communicator; MPICH: odd for collectives
  std::int32_t source = 0;    // rank of the sender in the communicator
  std::int32_t tag = 0;       // MPI tag; for collectives: the library's own
  bool collective = false;    // made by the library for a collective
};

// nullopt: no MPI, or a protocol message of the library.
std::optional<DecodedTag> decode_tag(MpiFlavour flavour, std::uint64_t ucp_tag);

}  // namespace uctrace::merge

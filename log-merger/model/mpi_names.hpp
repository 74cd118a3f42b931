// What the name of an MPI function says of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace uctrace {

enum class MpiKind : std::uint8_t { p2p, completion, rma, collective, io, management };
inline constexpr MpiKind kMpiKinds[] = {MpiKind::p2p, MpiKind::completion,
                                        MpiKind::rma, MpiKind::collective,
                                        MpiKind::io,  MpiKind::management};
const char* name_of(MpiKind);

struct MpiName {
  std::string base;  // what it does, such as "allgatherv" of MPI_Iallgatherv_c; else as it is
  MpiKind kind = MpiKind::management;
  bool nonblocking = false;    // MPI_I...
  bool persistent = false;     // ..._init
  bool only_receives = false;  // data that another process gives, or has
};

MpiName parse_mpi_name(std::string_view function);

// MPI_Init, MPI_Finalize and the like: their time stands apart from all totals of time in MPI.
bool starts_or_ends_mpi(std::string_view function);

// Whether a message that `function` sent by UCP's `protocol` is complete at its sender only when
// its receiver takes it: by rendezvous, or synchronously. An eager one is on its way whether the
// receiver is there or not.
bool needs_receiver(std::string_view protocol, std::string_view function);

}  // namespace uctrace

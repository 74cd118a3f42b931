// The functions of MPI that generated programs call. Their place is their number in the logs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace uctrace::tracegen {

enum class MpiFunction : std::uint8_t {
  none,
  init,
  finalize,
  comm_dup,
  comm_split,
  send,
  ssend,
  recv,
  isend,
  irecv,
  sendrecv,
  send_init,
  recv_init,
  startall,
  waitall,
  wait,
  request_free,
  cancel,
  probe,
  iprobe,
  mprobe,
  mrecv,
  barrier,
  bcast,
  allreduce,
  alltoall,
  ibarrier,
  ibcast,
  iallreduce,
  ialltoall,
  win_create,
  win_free,
  put,
  get,
  fetch_and_op,
  win_fence,
  kCount
};

inline constexpr std::array<const char*, static_cast<std::size_t>(MpiFunction::kCount)>
    kMpiFunctionNames = {"",
                         "MPI_Init",
                         "MPI_Finalize",
                         "MPI_Comm_dup",
                         "MPI_Comm_split",
                         "MPI_Send",
                         "MPI_Ssend",
                         "MPI_Recv",
                         "MPI_Isend",
                         "MPI_Irecv",
                         "MPI_Sendrecv",
                         "MPI_Send_init",
                         "MPI_Recv_init",
                         "MPI_Startall",
                         "MPI_Waitall",
                         "MPI_Wait",
                         "MPI_Request_free",
                         "MPI_Cancel",
                         "MPI_Probe",
                         "MPI_Iprobe",
                         "MPI_Mprobe",
                         "MPI_Mrecv",
                         "MPI_Barrier",
                         "MPI_Bcast",
                         "MPI_Allreduce",
                         "MPI_Alltoall",
                         "MPI_Ibarrier",
                         "MPI_Ibcast",
                         "MPI_Iallreduce",
                         "MPI_Ialltoall",
                         "MPI_Win_create",
                         "MPI_Win_free",
                         "MPI_Put",
                         "MPI_Get",
                         "MPI_Fetch_and_op",
                         "MPI_Win_fence"};

constexpr const char* name_of(MpiFunction function) {
  return kMpiFunctionNames[static_cast<std::size_t>(function)];
}

}  // namespace uctrace::tracegen

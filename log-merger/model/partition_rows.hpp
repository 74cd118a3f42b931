// Partitioned communication (MPI 4.0, chapter 4): rows made by log-merger/partitions/.
// docs/partitions.md explains them and the formulas.
//
// Times are nanoseconds on the job clock, -1 = not known.
#pragma once

#include <cstddef>
#include <cstdint>

namespace uctrace {

// Whether the receive of a send is known, or why not.
enum class PartitionMatch : std::uint8_t {
  matched,
  no_partner,      // the other side made no such request, or left no log
  records_missing,  // calls of a process are missing, so their order is not known
  order_unclear,   // two threads made requests for the same messages at once
  sizes_differ,    // which MPI does not permit
};
const char* name_of(PartitionMatch);

// MPI_Psend_init or MPI_Precv_init.
struct PartitionRequest {
  bool sends = false;
  PartitionMatch match = PartitionMatch::no_partner;
  std::uint32_t process = 0;
  std::int32_t peer = -1;          // world rank, or log::MpiCall's marks
  std::int32_t peer_process = -1;  // -1 = it left no log
  std::int32_t communicator = -1;
  std::int32_t tag = 0;
  std::uint32_t partitions = 0;
  std::uint32_t starts = 0;
  std::uint64_t bytes = 0;    // of all partitions
  std::int32_t partner = -1;  // request of the other side
  std::int64_t call = -1;     // that made it; into mpi_calls
  std::int64_t t_init_ns = -1;
};

// A use of a request, from MPI_Start to the wait or test that completes it.
struct PartitionOperation {
  std::int32_t request = -1;
  std::uint32_t number = 0;   // among the uses of its request
  std::int64_t partner = -1;  // operation of the other side
  std::int64_t start_call = -1, complete_call = -1, ready_call = -1;  // into mpi_calls
  std::int64_t t_start_ns = -1;     // MPI_Start was entered
  std::int64_t t_complete_ns = -1;  // the call that completed it was left
  std::int64_t t_ready_ns = -1;     // of a send: the last MPI_Pready was entered
  std::uint32_t ready = 0;          // partitions that became ready, of a send
  std::uint32_t arrived = 0;        // of a receive: partitions that MPI_Parrived saw before it was
                                    // complete
};

// The nine events of Thaerigen, Hermanns and Geimer (SC-W 2023), table 1.
enum class PartitionEventKind : std::uint8_t {
  psend_init,
  precv_init,
  pready,
  parrived,
  ptested,
  psend_request,
  precv_request,
  psend_complete,
  precv_complete,
};
inline constexpr std::size_t kPartitionEventKinds = 9;
const char* name_of(PartitionEventKind);

struct PartitionEvent {
  PartitionEventKind kind = PartitionEventKind::psend_init;
  std::uint32_t process = 0;
  std::uint32_t lane = 0;        // recording thread
  std::int32_t request = -1;
  std::int64_t operation = -1;   // -1 = the request was not in use
  std::int32_t partition = -1;   // of pready, parrived and ptested
  std::int64_t call = -1;        // into mpi_calls
  std::int64_t t_ns = -1;        // where table 1 places it: begin or end of the call
};

// The overlap of a partition of a send and one of its receive.
struct PartitionLine {
  std::int64_t send = -1, receive = -1;  // into partition_operations
  std::uint32_t send_partition = 0, receive_partition = 0;
  std::uint64_t bytes = 0;
  std::int64_t t_ready_ns = -1;     // MPI_Pready of the send's partition was entered
  std::int64_t t_arrived_ns = -1;   // the call that first showed the receive's partition was left
  std::int64_t arrived_call = -1;   // it; into mpi_calls
  bool by_parrived = false;         // it was an MPI_Parrived, else the wait or test
};

// Unsuccessful calls of MPI_Parrived, which were only counted.
struct PartitionPolls {
  std::uint32_t process = 0;
  std::uint64_t calls = 0;
  std::int64_t ns = 0;
};

}  // namespace uctrace

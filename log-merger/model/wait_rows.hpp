// Waits between processes: rows made by log-merger/waits/; docs/waits.md has the formulas.
//
// Times are nanoseconds on the job clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace uctrace {

// Wait states. Up to early_scan, and for partitions, the definitions are those of Scalasca and its
// papers.
enum class WaitKind : std::uint8_t {
  late_sender,                // a receive was waited for before its message was sent
  late_receiver,              // a send was waited for before its receive was posted
  wrong_order,                // a late sender, while a message sent earlier was received later
  wait_barrier,               // for the last to enter a barrier
  barrier_completion,         // in a barrier that another process has left already
  wait_nxn,                   // for the last to enter a collective operation of all with all
  nxn_completion,             // in such an operation, after another process has left it
  late_broadcast,             // for the root that sends
  early_reduce,               // a root, for the last that sends
  early_scan,                 // for the last of the lower ranks
  rma_wait_at_create,         // for the last to make or free a window
  rma_wait_at_fence,          // for the last to enter a fence
  rma_late_post,              // an origin, for a target's MPI_Win_post
  rma_early_wait,             // a target, for an origin's MPI_Win_complete
  rma_lock_contention,        // for a lock that another process holds
  partitioned_late_sender,    // a partitioned receive, for the last partition to be ready
  partitioned_late_receiver,  // a partitioned send, for its receive to be started
  nonblocking_collective,     // in the wait for such an operation, for a process that had not begun
                              // it
  wait_finalize,              // for the last to enter MPI_Finalize
};
inline constexpr std::size_t kWaitKinds = 19;
inline constexpr std::array<WaitKind, kWaitKinds> kAllWaitKinds = [] {
  std::array<WaitKind, kWaitKinds> all{};
  for (std::size_t i = 0; i < kWaitKinds; ++i) all[i] = static_cast<WaitKind>(i);
  return all;
}();
const char* name_of(WaitKind);

// Whether such rows are real waiting: in a completion the library moves data.
bool is_waiting(WaitKind);

// Whether it counts in totals of waiting: waits in MPI_Finalize are kept apart.
bool is_in_totals(WaitKind);

// Why it is not known whether, or how long, a call waited.
enum class WaitUnknown : std::uint8_t {
  none,               // it is known
  below_clock_bound,  // the clocks are not known well enough to claim it
  clocks,             // the clock error is not known at all
  partner,            // the other side is not known: unmatched, ambiguous, or without a log
  members,            // not every process of the operation recorded its entry
  request,            // the requests of the call are not known
};
const char* name_of(WaitUnknown);

// One wait of one MPI call for one other process. Waits of a call do not overlap.
struct Wait {
  WaitKind kind = WaitKind::late_sender;
  WaitUnknown unknown = WaitUnknown::none;
  std::uint32_t process = 0;        // that waited
  std::int32_t cause_process = -1;  // that it waited for, -1 = not known
  std::int64_t call = -1;           // the waiting call; into mpi_calls
  std::int64_t cause_call = -1;     // whose beginning ended the wait; into mpi_calls
  std::int64_t message = -1;        // the late message; into messages
  std::int32_t communicator = -1;   // into communicators
  std::int64_t t_start_ns = -1;     // the wait began
  std::int64_t ns = 0;              // how long it was
  std::int64_t unknown_ns = 0;      // time of the call that may have been waiting
  // of a message: from the end of the wait to its own end, or to that of the call if earlier
  std::int64_t moving_ns = 0;
  std::int64_t registration_ns = 0;  // part of these two: registration calls for the message
};

// What had to happen at another process before a call could return.
enum class DependencyKind : std::uint8_t {
  message,     // it received a message: the call that began to send it
  receiver,    // it sent one that needs its receiver: the call that began the receive
  partitions,  // it completed a partitioned receive: the call that made the last one ready
  partitioned_receiver,  // it completed a partitioned send: the call that started the receive
  member,                // of a collective operation: the call of one other process in it
  lower_rank,            // the call of the next lower rank in it, and everything that this one
                         // depends on
  operation,             // the calls of all processes in it
  epoch,                 // one-sided: the call that began or ended the epoch at the other side
};
const char* name_of(DependencyKind);

// Only Wait tells whether the call really waited: it may have come later than what it depends on.
struct CallDependency {
  DependencyKind kind = DependencyKind::message;
  std::int64_t call = -1;       // the dependent call; into mpi_calls, -1 = not known
  std::int64_t begun = -1;      // the call that began the operation; the same if it blocks
  std::int64_t on = -1;         // that had to be entered first; -1 for an operation
  std::int64_t message = -1;    // of the first two kinds; into messages
  std::int64_t operation = -1;  // the same number for all of an operation
};

// A non-blocking collective operation of one process, or a start of a persistent one.
struct BegunCollective {
  std::uint32_t process = 0;
  std::int64_t begun = -1;      // call that began it; into mpi_calls
  std::int64_t made = -1;       // call that made its request: the same, but for a persistent one
  std::int64_t completed = -1;  // call that completed it, -1 = none that is known
  std::uint64_t bytes = 0, recv_bytes = 0;  // that its process contributes and gets
};

// Work of a process before calls of one place that others waited for: how much of the waits it
// caused, through any number of processes (log-merger/waits/delays.hpp).
struct Delay {
  std::uint32_t process = 0;      // that was late
  std::uint32_t function = 0;     // text: MPI function that it came late to
  std::int32_t stack = -1;        // into stacks, -1 = none
  std::uint64_t waits = 0;        // that waited for it there
  std::int64_t direct_ns = 0;     // of these
  std::int64_t passed_on_ns = 0;  // of processes that waited for the waiting ones, and so on
};

// Part of the critical path (log-merger/waits/critical_path.hpp): its time in calls of one place,
// and between these and the previous calls.
struct CriticalPart {
  std::uint32_t process = 0;
  std::uint32_t function = 0;  // text
  std::int32_t stack = -1;     // into stacks, -1 = none
  std::int64_t work_ns = 0;    // outside MPI, before these calls
  std::int64_t mpi_ns = 0;     // in them
};

// How a process spent its time. In MPI, without its start and end (starts_or_ends_mpi() of
// model/mpi_names.hpp): waiting + moving + unknown + other. Summed over threads.
struct RankTime {
  std::uint32_t process = 0;
  std::uint32_t threads = 0;                    // that called MPI
  std::uint64_t calls = 0;                      // that have a known start and end
  std::int64_t t_begin_ns = -1, t_end_ns = -1;  // where MPI began and ended (EdgesOfMpi), or else
                                                // what is nearest to these
  std::int64_t ideal_ns = -1;                   // from one to the other, if data had moved
                                                // instantly; -1: calls in between were not recorded
  std::int64_t start_and_end_ns = 0;            // in MPI_Init, MPI_Finalize, and of sessions
  std::int64_t sessions_ns = 0;                 // of it, from t_begin_ns to t_end_ns
  std::int64_t mpi_ns = 0;                      // in all other calls
  std::int64_t waiting_ns = 0;                  // of it, for other processes
  std::int64_t moving_ns = 0;                   // of it, while data moved
  std::int64_t unknown_ns = 0;                  // of it, one or the other
  std::int64_t other_ns = 0;                    // of it, in calls that wait for nobody
};

}  // namespace uctrace

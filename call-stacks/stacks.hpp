// Call stacks of recorded events.
//
// A stack is taken where the event is recorded, inside uctrace's function that stands in front of
// the library's. A repeated stack is recognised by the words that lie on it (memo.hpp); a new one
// is unwound, gets a number and is written to the log once.
//
// Laws (docs/internals.md): taking a repeated stack allocates nothing, locks nothing and calls
// nothing. A new one is the exemption, like the questions to drivers: unwinding asks the loader. It
// keeps errno, and is never begun while the same thread unwinds. libunwind is opened before main().
//
// Cost: 10 to 25 ns for a stack of 10 to 20 frames that came before; docs/stacks.md has what was
// measured. Nothing but a load and a branch while no stacks are kept.
#pragma once

#include <cstdint>

#include "event-log/recorder/extras.hpp"
#include "event-log/recorder/recorder.hpp"

namespace uctrace::stacks {

// From UCTRACE_STACKS, before main().
inline bool wanted() { return log::wants(log::kWantStacks); }

// Id of the stack of the function that calls this, 0 if it could not be taken.
[[gnu::noinline]] std::uint32_t take(log::Lane& lane);

// The stack for an MPI call.
inline std::uint32_t of_mpi_call(log::Lane& lane) { return wanted() ? take(lane) : 0; }

// Of an operation of UCP: the program's own, outside of MPI; of MPI only with `all`.
inline std::uint32_t of_ucp_operation(log::Lane& lane) {
  if (!wanted() || lane.leaves_out()) return 0;
  const bool own = lane.info->current_call.head.type == log::RecordType::unpublished;
  return own || log::wants(log::kWantAllStacks) ? take(lane) : 0;
}

// Of an operation of UCT.
inline std::uint32_t of_uct_operation(log::Lane& lane) {
  return log::wants(log::kWantAllStacks) && !lane.leaves_out() ? take(lane) : 0;
}

}  // namespace uctrace::stacks

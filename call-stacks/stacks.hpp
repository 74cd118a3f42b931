// Call stacks of recorded events.
//
// A stack is taken when the event is recorded, inside uctrace's function that intercepts the
// library's. A repeated stack is recognised by its words (memo.hpp); a new one is unwound, gets a
// number and is written to the log once.
//
// Laws (docs/internals.md): taking a repeated stack allocates nothing, locks nothing and calls
// nothing. A new one is an exception, like the questions to drivers: unwinding asks the loader. It
// keeps errno, and never begins while the same thread already unwinds. libunwind is opened before
// main().
//
// Cost: 10 to 25 ns for a repeated stack of 10 to 20 frames (measurements: docs/stacks.md). A load
// and a branch while no stacks are kept.
#pragma once

#include <cstdint>

#include "event-log/recorder/extras.hpp"
#include "event-log/recorder/recorder.hpp"

namespace uctrace::stacks {

// From UCTRACE_STACKS, before main().
inline bool wanted() { return log::wants(log::kWantStacks); }

// Id of the stack of the function that calls this, 0 if it could not be taken.
[[gnu::noinline]] std::uint32_t take(log::Lane& lane);

// The stack for a call of MPI, or of another library above UCX.
inline std::uint32_t of_call(log::Lane& lane) { return wanted() ? take(lane) : 0; }

// The stack for a UCP operation: one of the program itself, outside MPI; with `all` also one that
// MPI makes.
inline std::uint32_t of_ucp_operation(log::Lane& lane) {
  if (!wanted() || lane.leaves_out()) return 0;
  const bool own = lane.info->current_call.head.type == log::RecordType::unpublished;
  return own || log::wants(log::kWantAllStacks) ? take(lane) : 0;
}

// The stack for a UCT operation.
inline std::uint32_t of_uct_operation(log::Lane& lane) {
  return log::wants(log::kWantAllStacks) && !lane.leaves_out() ? take(lane) : 0;
}

}  // namespace uctrace::stacks

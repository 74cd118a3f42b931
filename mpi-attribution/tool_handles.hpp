// The handles of uctrace's own variables of MPI_T, and the sessions.
//
// A session is the library's; its handles and ours live in it. A handle of ours is not an address.
// Its upper 16 bits are a tag that no address of a program has; below are a unique number and its
// place in the table here. A handle that is not in the table is refused, and never dereferenced.
//
// Call all but is_tagged() with a ToolLock held.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/fork_lock.hpp"
#include "mpi-attribution/library.hpp"
#include "mpi-attribution/tool_values.hpp"

namespace uctrace::mpi {

// Held while one call is answered, never while the library is called. A fork child has none of its
// parent's handles.
class ToolLock {
 public:
  ToolLock();
  ToolLock(const ToolLock&) = delete;
  ToolLock& operator=(const ToolLock&) = delete;

 private:
  interpose::Held<interpose::ForkLock> held_;
};

struct ToolHandle {
  Word word;
  const PerformanceVariable* variable;  // nullptr: it is of a control variable
  int control;
  Word session;
  bool started;
  std::size_t count;  // of values
  BoundComm comm;
  CounterCopy* since;  // of a profile: the counters when it began, sorted
  // These follow the handle, `count` each: what was counted while started, the counters when that
  // was last updated, and room to read them. Then come the ranks.
  std::uint64_t *saved, *base, *now;
};

// Whether the handle may be ours.
bool is_tagged(Word handle);

// Whether the handle must not be passed to the library.
inline bool is_for_us(Word handle) { return handle == 0 || is_tagged(handle); }

// nullptr: there is no such handle.
ToolHandle* find_handle(Word handle);

// For `count` values of a variable. nullptr: no memory, or too many handles.
ToolHandle* make_handle(std::size_t count, std::size_t ranks);
void free_handle(ToolHandle* handle);

template <typename Visit>
void for_each_handle(Visit visit);

// False: there are too many.
bool know_session(Word session);
bool is_known_session(Word session);
// Its handles end with it.
void end_session(Word session);
void end_all_sessions();

namespace detail {
inline constexpr std::size_t kMostToolHandles = std::size_t{1} << 14;
UCTRACE_OWN extern constinit ToolHandle* tool_handles[kMostToolHandles];
UCTRACE_OWN extern constinit std::size_t tool_handles_used;  // places that were ever used
}  // namespace detail

template <typename Visit>
void for_each_handle(Visit visit) {
  for (std::size_t i = 0; i < detail::tool_handles_used; ++i) {
    if (detail::tool_handles[i] != nullptr) visit(*detail::tool_handles[i]);
  }
}

}  // namespace uctrace::mpi

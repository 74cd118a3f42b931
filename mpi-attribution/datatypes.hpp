// Defines the datatypes of recorded calls in the log: when a call first uses one, and again when
// its handle names another one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/recorder/own.hpp"
#include "event-log/recorder/recorder.hpp"
#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

namespace detail {
// Handles whose datatype is in the log, each at the place of its hash or at one of the next few; 0
// = none.
inline constexpr unsigned kDatatypeBits = 10;
UCTRACE_OWN extern Handle known_datatypes[std::size_t{1} << kDatatypeBits];
inline std::size_t place_of_datatype(Handle handle) {
  return static_cast<std::size_t>(handle * 0x9e3779b97f4a7c15u >> (64 - kDatatypeBits));
}
void learn_datatype(Handle handle, std::uint64_t tick);
}  // namespace detail

// Makes sure that the log has the datatype of a call that began at `tick` and succeeded. Costs 7
// instructions if it has, else some microseconds.
UCTRACE_HOT inline void know_datatype(Handle handle, std::uint64_t tick) {
  const Handle& known = detail::known_datatypes[detail::place_of_datatype(handle)];
  if (__atomic_load_n(&known, __ATOMIC_RELAXED) != handle) [[unlikely]] {
    detail::learn_datatype(handle, tick);
  }
}

// Call it before the library frees the datatype: from then on the handle may name another one.
void forget_datatype(Handle handle);

}  // namespace uctrace::mpi

// The MPI library's answers about a datatype: its combiner, and the size of one element. Predefined
// datatypes cannot be freed, so their size is asked for once. The handle of a datatype made by the
// program may name another one the next time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/kinds.hpp"
#include "event-log/recorder/own.hpp"
#include "event-log/recorder/recorder.hpp"
#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

// `named` for predefined datatypes.
log::Combiner combiner_of(Handle datatype);

namespace detail {
// A place is taken once and for good by the first datatype with its hash.
struct KnownSize {
  Handle datatype;               // 0 = the place is free
  std::uint64_t bytes_plus_one;  // 0 = not known yet, or asked for each time
};
inline constexpr unsigned kSizeBits = 8;
UCTRACE_OWN extern KnownSize known_sizes[std::size_t{1} << kSizeBits];
inline KnownSize& size_place(Handle datatype) {
  return known_sizes[datatype * 0x9e3779b97f4a7c15u >> (64 - kSizeBits)];
}
std::int64_t ask_element_bytes(Handle datatype);
}  // namespace detail

// The size of an element of a datatype in a call; -1: there is no datatype, or MPI does not say.
// Costs 8 instructions, or as long as MPI takes to answer.
UCTRACE_HOT inline std::int64_t element_bytes(Handle datatype) {
  const detail::KnownSize& known = detail::size_place(datatype);
  if (__atomic_load_n(&known.datatype, __ATOMIC_RELAXED) == datatype) [[likely]] {
    const std::uint64_t bytes = __atomic_load_n(&known.bytes_plus_one, __ATOMIC_RELAXED);
    if (bytes != 0) [[likely]]
      return static_cast<std::int64_t>(bytes - 1);
  }
  return detail::ask_element_bytes(datatype);
}

}  // namespace uctrace::mpi

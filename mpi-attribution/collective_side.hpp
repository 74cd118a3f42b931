// One direction of a collective call: how much data its arguments describe. Asks the library about
// datatypes, so use it only after the call has succeeded.
#pragma once

#include <algorithm>
#include <cstring>

#include "mpi-attribution/ask_datatype.hpp"
#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

// If nothing is moved, MPI ignores the datatype: it may be invalid.
inline std::uint64_t size_of(std::uint64_t count, Handle datatype) {
  if (count == 0) return 0;
  return count * static_cast<std::uint64_t>(std::max(element_bytes(datatype), std::int64_t{0}));
}

inline std::uint64_t positive(std::int64_t count) {
  return count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

// One direction of a call: the data of one process, of a given process among several, and of all.
class Side {
 public:
  Side(const UctraceSide& side, const UctraceCollective& call) : side_(side), call_(call.call) {}

  bool in_place() const { return side_.buffer == library.in_place; }
  std::uint64_t one() const { return size_of(positive(count_of(side_.count, call_)), datatype(0)); }
  std::uint64_t at(int process) const { return size_of(count(process), datatype(process)); }
  std::uint64_t each(int processes) const { return one() * positive(processes); }
  std::uint64_t sum(int processes) const {
    if (side_.datatypes == 0) {
      std::uint64_t counts = 0;
      for (int i = 0; i < processes; ++i) counts += count(i);
      return size_of(counts, datatype(0));
    }
    std::uint64_t bytes = 0;
    for (int i = 0; i < processes; ++i) bytes += at(i);
    return bytes;
  }

 private:
  std::uint64_t count(int process) const {
    if (side_.counts == 0) return 0;
    const std::size_t bytes = call_.big_counts ? sizeof(std::int64_t) : sizeof(std::int32_t);
    Word word = 0;
    std::memcpy(
        &word,
        reinterpret_cast<const char*>(side_.counts) + static_cast<std::size_t>(process) * bytes,
        bytes);
    return positive(count_of(word, call_));
  }
  Handle datatype(int process) const {
    if (side_.datatypes == 0) return library.handle(side_.datatype);
    return library.handle_at(side_.datatypes + static_cast<Word>(process) * library.handle_bytes());
  }

  const UctraceSide& side_;
  const UctraceCall& call_;
};

}  // namespace uctrace::mpi

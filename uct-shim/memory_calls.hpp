// Records the calls that make memory known to others: registration with a memory domain, keys,
// mappings of UCP (log::MemoryCall). They take microseconds to milliseconds if a network card must
// learn about the memory, and a few nanoseconds if a domain needs no registration.
//
// Use:   MemoryCall call(log::MemoryFunction::uct_md_mem_reg, caller);
//        const ucs_status_t status = original(domain, address, length, flags, memory);
//        return call.done(status, {.domain = number_of(domain), ...});
// Cost: two readings of the clock and a record of 72 bytes, about 60 ns.
#pragma once

#include <ucs/type/status.h>

#include <cstddef>
#include <cstdint>

#include "event-log/recorder/recorder.hpp"

namespace uctrace::uct {

// The subject of a call; as in log::MemoryCall, 0 = the call does not say.
struct CalledMemory {
  std::uint64_t domain = 0, key = 0, address = 0, bytes = 0;
  // Asked before the call if the memory may be gone after it.
  log::MemoryId memory = log::kMemoryNotAsked;
};

inline std::uint64_t number_of(const void* handle) {
  return reinterpret_cast<std::uint64_t>(handle);
}

// For a function that some UCX versions lack.
template <typename Function, typename... Arguments>
ucs_status_t call_if_there(Function* function, Arguments... arguments) {
  return function != nullptr ? function(arguments...) : UCS_ERR_UNSUPPORTED;
}

class MemoryCall {
 public:
  // `caller` called UCX: the version of its UCX decides whether the call is recorded.
  MemoryCall(log::MemoryFunction function, const void* caller);

  // Returns `status`; keeps errno.
  ucs_status_t done(ucs_status_t status, const CalledMemory& memory);

  // These move the begin and end of the measured time, to exclude the recorder's own work. Without
  // end_now(), done() ends it.
  void begin_now() {
    if (is_recorded_) start_tick_ = log::now();
  }
  void end_now() {
    if (is_recorded_) end_tick_ = log::now();
  }

  // False: nothing is recorded; work that only the record needs can be skipped.
  bool is_recorded() const { return is_recorded_; }

 private:
  log::MemoryFunction function_;
  bool is_recorded_;
  std::uint64_t start_tick_;
  std::uint64_t end_tick_ = 0;
};

}  // namespace uctrace::uct

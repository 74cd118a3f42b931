// Counting the data of UCP operations by the GPU in whose memory it lies
// (event-log/recorder/counters.hpp).
//
// Only while there is a GPU driver. It is asked before the call, when the memory is sure to be
// there. Sends are counted if the call did not fail. Receives are counted when they end, with as
// much as came.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>

#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/extras.hpp"
#include "ucp-shim/active_requests.hpp"

namespace uctrace::ucp {

// Where the data of an operation lies, as a subject of the counters; whether it was sent or
// received is added later. kNotCounted: in host memory, or there is no driver.
using CountedMemory = std::uint64_t;
inline constexpr CountedMemory kNotCounted = ~CountedMemory{0};

// Whether there is a driver to ask, and counters are on. Cost: a load and a test if there is none.
inline bool counts_memory() { return log::wants(log::kWantMemory) && log::counts(); }

// For `count` elements at `buffer`. A list counts if all of it lies in one place, else as unknown.
CountedMemory find_counted_memory(const ucp_request_param_t* param, const void* buffer,
                                  std::size_t count);
inline CountedMemory counted_memory(const ucp_request_param_t* param, const void* buffer,
                                    std::size_t count) {
  return counts_memory() ? find_counted_memory(param, buffer, count) : kNotCounted;
}

// Counts data sent from there, by an operation with this result.
inline void count_sent(CountedMemory memory, ucs_status_ptr_t result, std::uint64_t bytes) {
  if (memory != kNotCounted && !UCS_PTR_IS_ERR(result)) [[unlikely]] {
    log::count(log::CounterKind::gpu, memory, bytes);
  }
}

// Counts data received there.
inline void count_received(CountedMemory memory, ucs_status_t status, std::uint64_t bytes) {
  if (memory != kNotCounted && status == UCS_OK && bytes != 0) [[unlikely]] {
    log::count(log::CounterKind::gpu, memory | log::kDataReceived, bytes);
  }
}

// Nothing will report how much came: it is counted as unplaced.
void count_unseen_receive(CountedMemory memory);

// For a receive that ended at return. `length` is where UCX stores its length, if it does at all.
inline constexpr std::size_t kNotTold = ~std::size_t{0};
inline void count_received_at_return(CountedMemory memory, const std::size_t* length) {
  if (memory == kNotCounted) return;
  if (length != nullptr && *length != kNotTold) {
    count_received(memory, UCS_OK, *length);
  } else {
    count_unseen_receive(memory);
  }
}

// An untracked request may have the address of a tracked one whose end UCP never reported.
inline ucs_status_ptr_t pass_untracked(ucs_status_ptr_t result) {
  if (counts_memory() && UCS_PTR_IS_PTR(result)) [[unlikely]] {
    forget_active(result);
  }
  return result;
}

}  // namespace uctrace::ucp

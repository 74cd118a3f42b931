#include "ucp-shim/active_requests.hpp"

#include <ucp/api/ucp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/export.hpp"
#include "interpose/original.hpp"
#include "ucp-shim/requests.hpp"

namespace uctrace::ucp {

namespace {

using interpose::Original;

constinit Original<decltype(&::ucp_request_free)> original_free{"ucp_request_free"};
constinit Original<decltype(&::ucp_request_release)> original_release{"ucp_request_release"};
constinit Original<decltype(&::ucp_request_check_status)> original_check_status{
    "ucp_request_check_status"};

constexpr std::size_t kPlaceBits = 14;
constexpr std::size_t kPlaces = std::size_t{1} << kPlaceBits;
constexpr std::size_t kProbes = 8;
constexpr std::uintptr_t kFreed = 1;  // added to the address, which is aligned

// By their address, in one of kProbes places.
constinit std::atomic<std::uintptr_t> active[kPlaces]{};

std::uintptr_t number(const void* request) { return reinterpret_cast<std::uintptr_t>(request); }

std::atomic<std::uintptr_t>& place(const void* request, std::size_t probe) {
  const std::size_t home = (number(request) >> 3) * 0x9E3779B97F4A7C15u >> (64 - kPlaceBits);
  return active[(home + probe) % kPlaces];
}

// The program frees a request: true if it is listed.
bool mark_freed(void* request) {
  for (std::size_t i = 0; i < kProbes; ++i) {
    std::uintptr_t listed = number(request);
    if (place(request, i)
            .compare_exchange_strong(listed, listed | kFreed, std::memory_order_acq_rel)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool list_active(void* request) {
  for (std::size_t i = 0; i < kProbes; ++i) {
    const std::uintptr_t there = place(request, i).load(std::memory_order_relaxed);
    if (there == 0 || (there & ~kFreed) == number(request)) {
      place(request, i).store(number(request), std::memory_order_release);
      return true;
    }
  }
  return false;
}

bool end_active(void* request) {
  for (std::size_t i = 0; i < kProbes; ++i) {
    const std::uintptr_t there = place(request, i).load(std::memory_order_acquire);
    if ((there & ~kFreed) == number(request)) {
      place(request, i).store(0, std::memory_order_release);
      return (there & kFreed) == 0;
    }
  }
  return true;
}

void forget_active(void* request) {
  for (std::size_t i = 0; i < kProbes; ++i) {
    if ((place(request, i).load(std::memory_order_relaxed) & ~kFreed) == number(request)) {
      place(request, i).store(0, std::memory_order_release);
    }
  }
}

void free_request(void* request, const void* caller) { original_free.get(caller)(request); }

}  // namespace uctrace::ucp

using namespace uctrace;

// One that has ended, as nearly all have, costs the question whether it has.
UCTRACE_EXPORT void ucp_request_free(void* request) {
  const void* caller = __builtin_return_address(0);
  const bool active = ucp::layer_on() &&
                      ucp::original_check_status.get(caller)(request) == UCS_INPROGRESS &&
                      ucp::mark_freed(request);
  if (active) {
    ucp::original_release.get(caller)(request);
  } else {
    ucp::free_request(request, caller);
  }
}

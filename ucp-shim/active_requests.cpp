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
static_assert(kPlaces <= UINT16_MAX);  // ActivePlace
constexpr std::uintptr_t kFreed = 1;   // added to the address, which is aligned

// Found by their address, in one of kProbes places.
constinit std::atomic<std::uintptr_t> active[kPlaces]{};

std::uintptr_t number(const void* request) { return reinterpret_cast<std::uintptr_t>(request); }

// The places in which a request may be listed.
std::size_t index_of(const void* request, std::size_t probe) {
  const std::size_t home = (number(request) >> 3) * 0x9E3779B97F4A7C15u >> (64 - kPlaceBits);
  return (home + probe) % kPlaces;
}

}  // namespace

ActivePlace list_active(void* request) {
  for (std::size_t i = 0; i < kProbes; ++i) {
    const std::size_t index = index_of(request, i);
    std::uintptr_t empty = 0;
    if (active[index].load(std::memory_order_relaxed) == 0 &&
        active[index].compare_exchange_strong(empty, number(request), std::memory_order_acq_rel)) {
      return static_cast<ActivePlace>(index + 1);
    }
  }
  return 0;
}

bool end_active(ActivePlace place, void* request) {
  std::atomic<std::uintptr_t>& own = active[place - 1];
  const std::uintptr_t there = own.load(std::memory_order_acquire);
  if ((there & ~kFreed) != number(request)) {
    return true;  // forgotten
  }
  own.store(0, std::memory_order_release);
  return (there & kFreed) == 0;
}

// Also marks the place of an earlier request at this address, which its posting call is about to
// empty.
bool mark_freed(void* request) {
  bool listed = false;
  for (std::size_t i = 0; i < kProbes; ++i) {
    std::uintptr_t unmarked = number(request);
    listed |= active[index_of(request, i)].compare_exchange_strong(unmarked, unmarked | kFreed,
                                                                   std::memory_order_acq_rel);
  }
  return listed;
}

void forget_active(void* request) {
  for (std::size_t i = 0; i < kProbes; ++i) {
    std::atomic<std::uintptr_t>& place = active[index_of(request, i)];
    if ((place.load(std::memory_order_relaxed) & ~kFreed) == number(request)) {
      place.store(0, std::memory_order_release);
    }
  }
}

void free_request(void* request, const void* caller) { original_free.get(caller)(request); }

}  // namespace uctrace::ucp

using namespace uctrace;

// For a request that has ended, as nearly all have, this costs one check of its status.
UCTRACE_EXPORT void ucp_request_free(void* request) {
  const void* caller = __builtin_return_address(0);
  const bool active = ucp::layer_on() && !log::counts_no_memory() &&
                      ucp::original_check_status.get(caller)(request) == UCS_INPROGRESS &&
                      ucp::mark_freed(request);
  if (active) {
    ucp::original_release.get(caller)(request);
  } else {
    ucp::free_request(request, caller);
  }
}

#include "ucp-shim/active_requests.hpp"

#include <ucp/api/ucp.h>

#include "event-log/address_map.hpp"
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

struct Nothing {};
constinit log::AddressMap<Nothing, 16384> active;

}  // namespace

bool list_active(void* request) { return active.claim(request) != nullptr; }

bool take_active(void* request) {
  auto* entry = active.find(request);
  return entry != nullptr && active.take(entry, request);
}

void free_request(void* request, const void* caller) { original_free.get(caller)(request); }

}  // namespace uctrace::ucp

using namespace uctrace;

// One that has ended, as nearly all have, costs the question whether it has.
UCTRACE_EXPORT void ucp_request_free(void* request) {
  const void* caller = __builtin_return_address(0);
  const bool active = ucp::layer_on() &&
                      ucp::original_check_status.get(caller)(request) == UCS_INPROGRESS &&
                      ucp::take_active(request);
  if (active) {
    ucp::original_release.get(caller)(request);
  } else {
    ucp::free_request(request, caller);
  }
}

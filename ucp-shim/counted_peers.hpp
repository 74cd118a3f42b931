// Counting UCP operations by peer (event-log/recorder/counters.hpp). A peer is known by the uid of
// its worker, whose process the reader of the counters finds; an endpoint is known by its address.
#pragma once

#include <ucp/api/ucp.h>

#include "event-log/recorder/counters.hpp"
#include "ucp-shim/requests.hpp"

namespace uctrace::ucp {

// An endpoint was made to this worker; 0 = not known to which. A slow path.
void name_peer(ucp_ep_h endpoint, std::uint64_t remote_uid);

// The peer of an endpoint, as a subject of the counters. Cost: 2 ns.
std::uint64_t peer_of(ucp_ep_h endpoint);

// For callers that know an endpoint only by its address (log::set_peer_of_endpoint).
std::uint64_t peer_at(const void* endpoint);

inline bool counts_operations() { return log::counts() && layer_on(); }

// What a point-to-point call of the program sends is counted in the MPI wrapper, which needs the
// endpoint that it went to.
inline bool is_counted_by_mpi(ucp_tag_t tag) {
  return log::programs_send != 0 && log::has_tag_rule() && log::is_programs_message(tag);
}
inline void leave_to_mpi(ucp_ep_h endpoint) {
  log::programs_send = reinterpret_cast<std::uintptr_t>(endpoint);
}

// Each counts an operation that did not fail at once, and returns its result.

inline ucs_status_ptr_t count_tag_send(ucs_status_ptr_t result, ucp_ep_h endpoint, ucp_tag_t tag,
                                       std::uint64_t bytes) {
  if (UCS_PTR_IS_ERR(result)) return result;
  if (is_counted_by_mpi(tag)) {
    leave_to_mpi(endpoint);
    return result;
  }
  log::count(log::has_tag_rule() ? log::CounterKind::internal : log::CounterKind::external,
             peer_of(endpoint), bytes);
  return result;
}

inline ucs_status_ptr_t count_untagged_send(ucs_status_ptr_t result, ucp_ep_h endpoint,
                                            std::uint64_t bytes) {
  if (UCS_PTR_IS_ERR(result)) return result;
  log::count(log::has_tag_rule() ? log::CounterKind::internal : log::CounterKind::external,
             peer_of(endpoint), bytes);
  return result;
}

struct OneSidedCount {
  ucp_ep_h endpoint;
  log::UcpFamily family;
  std::uint64_t bytes;
  bool fetches;
};

// Those of MPI are counted in the MPI wrapper.
inline ucs_status_ptr_t count_one_sided(ucs_status_ptr_t result, const OneSidedCount& what) {
  if (UCS_PTR_IS_ERR(result) || log::has_tag_rule()) return result;
  const std::uint64_t peer = peer_of(what.endpoint);
  if (what.family != log::UcpFamily::get) {
    log::count(log::CounterKind::one_sided_sent, peer, what.bytes);
  }
  if (what.family == log::UcpFamily::get || what.fetches) {
    log::count(log::CounterKind::one_sided_received, peer, what.bytes);
  }
  return result;
}

}  // namespace uctrace::ucp

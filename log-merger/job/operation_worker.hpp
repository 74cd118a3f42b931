// The UCP worker of an operation. Private to log-merger/.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Its own, or that of its endpoint; kNone: not known.
inline IndexOf<Worker> worker_of(const ProcessLog& log, const UcpOp& op) {
  if (!op.has_endpoint()) return log.worker_at(op.handle, op.start_tick);
  const auto at = row_at(log.ucp_endpoints, op.handle, op.start_tick);
  if (at == kNone) return {};
  const UcpEndpoint& endpoint = log.ucp_endpoints[at];
  return log.worker_at(endpoint.worker, endpoint.tick);
}

}  // namespace uctrace::merge

// The number that names a worker among all workers of a job. Every endpoint made from the worker's
// address also carries it.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>

namespace uctrace::ucp {

// 0 if this UCX does not report it. `caller`: who called UCP, which selects the instance of UCP.
std::uint64_t uid_of(ucp_worker_h worker, const void* caller);
std::uint64_t uid_of(const ucp_address_t* address, const void* caller);

}  // namespace uctrace::ucp

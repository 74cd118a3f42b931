// The number that names a worker among all of a job. Every endpoint made from its address carries
// it, too.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>

namespace uctrace::ucp {

// 0 if this UCX does not tell. `caller`: who called UCP, which decides on the instance.
std::uint64_t uid_of(ucp_worker_h worker, const void* caller);
std::uint64_t uid_of(const ucp_address_t* address, const void* caller);

}  // namespace uctrace::ucp

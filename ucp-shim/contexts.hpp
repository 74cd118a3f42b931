// What a program told UCX about its job when it made a context: UCX estimates times from it.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>

namespace uctrace::ucp {

// As ucp_params_t has them. UCX takes 1 for what the program does not state; 0: not known here.
struct JobSize {
  std::uint32_t endpoints, processes_of_node;
};

// For a context that was made through uctrace and is one of the last 64.
JobSize job_size_of(ucp_context_h context);

}  // namespace uctrace::ucp

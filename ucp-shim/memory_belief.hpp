// What kind of memory UCX takes the buffers of operations for. UCX asks its own cache, then perhaps
// the drivers, inside the call that posts the operation; we overhear the answers. If UCX takes
// device memory for host memory, the operation takes another path than its user thinks, or fails.
#pragma once

#include "event-log/format/device_kinds.hpp"
#include "event-log/format/file_layout.hpp"

namespace uctrace::ucp {

struct MemoryBelief {
  log::Belief believed = log::Belief::not_asked;
  std::uint8_t device = 255;  // as UCX numbers them
  log::BeliefFrom from = log::BeliefFrom::none;
  // The memory, as its driver described it when UCX took it for device memory: at the end of the
  // call a callback may have freed it. Not asked if UCX takes it for host memory.
  log::MemoryId memory = log::kMemoryNotAsked;
};

// The newest answer that UCX got for this buffer in the call of this operation, on this thread.
MemoryBelief belief_of(log::Id operation, const void* buffer);

// The same if the program states it: a ucs_memory_type_t.
MemoryBelief belief_of_type(unsigned type);

// For a new worker: learns which UCX this is, and defines UCX's devices in the log.
void learn_devices(const void* caller);

}  // namespace uctrace::ucp

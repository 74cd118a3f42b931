// What UCX takes the buffers of operations for: it asks a cache of its own, then perhaps the
// drivers, inside the call that posts the operation, and its answers are overheard. Where it takes
// device memory for the host's, the operation goes another way than its user thinks, or fails.
#pragma once

#include "event-log/format/device_kinds.hpp"
#include "event-log/format/file_layout.hpp"

namespace uctrace::ucp {

struct MemoryBelief {
  log::Belief believed = log::Belief::not_asked;
  std::uint8_t device = 255;  // as UCX numbers them
  log::BeliefFrom from = log::BeliefFrom::none;
  // What it was, to its driver, when UCX took it for a device's: at the end of the call a callback
  // may have freed it. Not asked where UCX takes it for the host's.
  log::MemoryId memory = log::kMemoryNotAsked;
};

// The newest answer that UCX had for this buffer in the call of this operation, on this thread.
MemoryBelief belief_of(log::Id operation, const void* buffer);

// The same where the program says it: a ucs_memory_type_t.
MemoryBelief belief_of_type(unsigned type);

// Learns which UCX this is, and says in the log what it calls its devices: for a new worker.
void learn_devices(const void* caller);

}  // namespace uctrace::ucp

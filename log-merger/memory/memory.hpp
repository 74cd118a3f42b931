// Where memory is, according to the log of its process. Never a guess: if several answers fit, it
// is unknown. Private to log-merger/.
#pragma once

#include <cstdint>
#include <optional>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// The place of the memory that an operation begun at `tick` named. Without a driver all memory is
// the host's; if there was a driver and it was not asked, the memory is unknown.
MemoryPlace memory_place(const ProcessLog& log, log::MemoryId id, std::uint64_t tick);

// The place of a UCP operation's buffer. An empty message is never on a device, nor is the data
// passed to an active message handler, which is in UCX's buffers.
MemoryPlace place_of_buffer(const ProcessLog& log, const UcpOp& op);

// The name in tables and reports; "" for none.
const char* name_of(log::DeviceMemoryKind kind);

// What UCX took memory for; "" if it did not check.
const char* name_of(log::Belief belief);

// Without any operation: host if the process never had a driver.
MemoryPlace place_without_operation(const ProcessLog& log);

// When an operation used memory, on the job's clock, and the clock error relative to the owner of
// the memory; nothing: not known.
struct Use {
  std::int64_t begin_ns, end_ns;
  std::optional<std::int64_t> margin_ns;
};

// The place of an address that another process accessed, as far as the target's definitions tell.
// It was mapped with UCP, and the driver was asked about all mapped memory, so memory that no
// driver claimed is the host's. If the clock error is not known, the answer is the only memory ever
// known at this address, if its end was never seen.
MemoryPlace place_at(const ProcessLog& log, std::uint64_t address, const Use& use);

}  // namespace uctrace::merge

// Where memory is, by what the log of its process tells. Never a guess: what several answers fit is
// unknown. Private to log-merger/.
#pragma once

#include <cstdint>
#include <optional>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Of the memory that an operation named, which began at `tick`. Without a driver all memory is the
// host's; when a driver was there and nothing was asked, it is unknown.
MemoryPlace memory_place(const ProcessLog& log, log::MemoryId id, std::uint64_t tick);

// Of the buffer of a UCP operation. Nothing of an empty message lies on a device, nor does what a
// handler of active messages is given: that is in buffers of UCX.
MemoryPlace place_of_buffer(const ProcessLog& log, const UcpOp& op);

// As tables and reports name it; "" for none.
const char* name_of(log::DeviceMemoryKind kind);

// What UCX took memory for; "" where it did not ask.
const char* name_of(log::Belief belief);

// Where no operation tells: host if the process never had a driver.
MemoryPlace place_without_operation(const ProcessLog& log);

// From when to when an operation used memory, on the job's clock, and how far its times may be off
// against those of the process whose memory it is; nothing: nobody knows.
struct Use {
  std::int64_t begin_ns, end_ns;
  std::optional<std::int64_t> margin_ns;
};

// Of an address that another process reached, as far as the target's definitions tell. It has been
// mapped with UCP, and the driver was asked for all of that, so that memory which no driver ever
// claimed is the host's. Where nobody knows how far times are off, it is what was ever
// known at this address, if that is one thing whose end nobody saw.
MemoryPlace place_at(const ProcessLog& log, std::uint64_t address, const Use& use);

}  // namespace uctrace::merge

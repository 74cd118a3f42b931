// Which memory the addresses of operations belong to, for the shims. Nothing here is
// vendor-specific.
//
// A driver is asked only if the program has loaded it. It is looked for when a worker, interface,
// endpoint or mapping is made. From then on operations name their memory (log::kWantMemory), and
// the log has the driver, its devices, and each allocation that was seen.
//
// Cost without a driver: that of log::wants(). With one: a question for each address
// (attributor.hpp). It is short for known memory and a full query for other memory, such as the
// host's each time; there is none for memory reported by a history.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/recorder/extras.hpp"
#include "event-log/recorder/recorder.hpp"

namespace uctrace::gpu {

// For slow paths; any number of times, on any thread. `caller` called UCX: the memory events of its
// UCX are watched.
void look_for_drivers(const void* caller);

// Whether there is a driver.
inline bool active() { return log::wants(log::kWantMemory); }

// The memory that has the address now. Keeps errno.
log::MemoryId memory_of(log::Lane& lane, std::uintptr_t address);
inline log::MemoryId memory_of(log::Lane& lane, const void* address) {
  return memory_of(lane, reinterpret_cast<std::uintptr_t>(address));
}

// Where data lies, for counting only.
struct DataPlace {
  enum class Kind : std::uint8_t { host, gpu, managed, unknown };
  Kind kind = Kind::unknown;
  std::uint16_t device = 0;  // its number in the log and in counters; 0: not known
  bool operator==(const DataPlace&) const = default;
};
DataPlace data_place_of(log::Lane& lane, const void* address);

// Whether the memory last found at both has the same kind and device.
bool is_same_place(const void* one, const void* other);

// Asks about all memory in a range, piece by piece, as far as the driver tells the end of each. For
// slow paths.
void find_memory(log::Lane& lane, const void* begin, std::size_t bytes);

}  // namespace uctrace::gpu

// Which memory the addresses of operations are in, for the shims. Nothing here knows a vendor.
//
// A driver is looked for where it may have come: it is asked only if the program has it loaded, and
// found at the next worker, interface, endpoint or mapping. From then on operations name their
// memory (log::kWantMemory), and the log has the driver, its devices, and each allocation that was
// met.
//
// Cost without a driver: that of log::wants(). With one: a question to it for each address, short
// for memory that is known, in full for all other, as the host's is each time (attributor.hpp);
// none for what a history tells.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/recorder/extras.hpp"
#include "event-log/recorder/recorder.hpp"

namespace uctrace::gpu {

// For slow paths; any number of times, on any thread. `caller` is who called UCX: its UCX's memory
// events are watched.
void look_for_drivers(const void* caller);

// Whether there is a driver.
inline bool active() { return log::wants(log::kWantMemory); }

// The memory that holds the address now. Keeps errno.
log::MemoryId memory_of(log::Lane& lane, std::uintptr_t address);
inline log::MemoryId memory_of(log::Lane& lane, const void* address) {
  return memory_of(lane, reinterpret_cast<std::uintptr_t>(address));
}

// Where data lies, for who only counts.
struct DataPlace {
  enum class Kind : std::uint8_t { host, gpu, managed, unknown };
  Kind kind = Kind::unknown;
  std::uint16_t device = 0;  // its number in the log and in counters; 0: not known
  bool operator==(const DataPlace&) const = default;
};
DataPlace data_place_of(log::Lane& lane, const void* address);

// Whether what was last found at both is of one kind and on one device.
bool is_same_place(const void* one, const void* other);

// Asks for all memory in a range, piece by piece, as far as the driver tells where each ends. For
// slow paths.
void find_memory(log::Lane& lane, const void* begin, std::size_t bytes);

}  // namespace uctrace::gpu

// The enumerations of devices and their memory; part of the format, like those of kinds.hpp.
#pragma once

#include <cstdint>

namespace uctrace::log {

// Whose driver knows of the memory.
enum class Vendor : std::uint8_t { none = 0, cuda = 1, rocm = 2, level_zero = 3, kCount };

// What kind of memory it is that a driver knows of.
enum class DeviceMemoryKind : std::uint8_t {
  none = 0,
  device,       // allocated on a device, or a variable of its code
  pool,         // from a pool, in the order of a stream
  managed,      // moves between host and device
  mapped,       // physical memory of a device, mapped at a range of addresses
  mapped_host,  // the same of the host's memory
  pinned,       // host memory that the driver allocated or registered
  imported,     // of another process
  kCount
};

// How memory was found to be gone.
enum class MemoryEnd : std::uint16_t {
  none = 0,
  freed,     // UCX or the history of allocations reported its end
  replaced,  // something else, or nothing, was at its address
  kCount
};

// What UCX takes memory for.
enum class Belief : std::uint8_t {
  not_asked = 0,  // as for operations on the short path for host memory
  host,
  cuda,
  cuda_managed,
  rocm,
  rocm_managed,
  level_zero_host,
  level_zero_device,
  level_zero_managed,
  other,
  kCount
};

// Where UCX got that from.
enum class BeliefFrom : std::uint8_t {
  none = 0,
  cache,      // its own, of allocations it saw; what is not in there is host memory
  detection,  // it asked the drivers
  caller,     // the parameters of the call say so
  kCount
};

// Memory as operations name it: one of these constants, or a DeviceMemory of the same process.
using MemoryId = std::uint32_t;
inline constexpr MemoryId kMemoryNotAsked = 0;
inline constexpr MemoryId kHostMemory = 1;
inline constexpr MemoryId kUnknownMemory = 2;    // a driver could not identify it
inline constexpr MemoryId kSeveralMemories = 3;  // a list of buffers in different ones
inline constexpr MemoryId kFirstDeviceMemory = 16;

constexpr bool is_memory_id(MemoryId id) {
  return id <= kSeveralMemories || id >= kFirstDeviceMemory;
}

}  // namespace uctrace::log

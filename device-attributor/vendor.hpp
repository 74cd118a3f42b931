// What uctrace asks of a vendor's GPU driver. Another vendor is another table of these functions,
// and a row of vendor-facts/ (docs/gpu.md).
//
// No function here initialises a driver, makes a context current or changes anything of the
// program's (but errno, which the caller keeps). Level Zero's makes one context of its own of each
// driver.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/device_kinds.hpp"

namespace uctrace::gpu {

using log::DeviceMemoryKind;

// What an address is, to the driver.
struct Answer {
  enum class What : std::uint8_t { host, known, failed };
  What what = What::failed;
  DeviceMemoryKind kind = DeviceMemoryKind::none;
  log::Vendor vendor = log::Vendor::none;  // by who asks
  int device = -1;                         // ordinal among the vendor's in this process, -1 = none
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;  // 0: the driver does not tell its extent
  // Differs from that of all other memory that was ever there; 0: the driver tells none.
  std::uint64_t buffer_id = 0;
  int error = 0;  // `failed`: the driver's number, or one of these
};

// The driver answered, but with a place that its layer does not know.
inline constexpr int kUnknownLocation = -1;
// Of too much memory it cannot be said where it ends: no more of that is defined.
inline constexpr int kTooManyWithoutExtent = -2;
// The drivers that can be asked do not know it, and there is one that cannot be asked.
inline constexpr int kUnusableDriver = -3;

// What a device is, wherever and however the program counts it.
struct DeviceFacts {
  unsigned char uuid[16];      // of an instance, where the GPU is divided
  unsigned char gpu_uuid[16];  // of the whole GPU
  std::uint32_t pci_domain;
  std::uint8_t pci_bus, pci_device, pci_function;
  std::uint64_t memory_bytes;
  char name[64];
};

struct Vendor {
  log::Vendor name;
  const char* library;  // its soname: asked only where the program has loaded it
  // Finds the functions in the library. On false `*missing` is one that is not there.
  bool (*resolve)(void* library, const char** missing);
  int (*version)();
  int (*device_count)();
  bool (*describe)(int device, DeviceFacts& facts);
  Answer (*query)(std::uintptr_t address);
  // The id of what is at the address now, 0 = nothing, or it has none: cheaper than a query. The
  // result is the driver's error, 0 = it answered. nullptr: no answer of this driver has an id.
  int (*buffer_id)(std::uintptr_t address, std::uint64_t& id) = nullptr;
  // In a fork child, before anything is asked there: forgets what its parent was told. nullptr: it
  // keeps nothing that a child may not use.
  void (*start_anew)() = nullptr;
};

extern const Vendor kCuda, kRocm, kLevelZero;

// Those that are looked for. All that are there are asked, in this order, until one knows the
// address. Ends with a nullptr.
extern const Vendor* const kVendors[];

}  // namespace uctrace::gpu

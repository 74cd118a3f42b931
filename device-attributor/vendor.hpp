// The questions that uctrace asks a vendor's GPU driver. A new vendor needs a table of these
// functions and a row in vendor-facts/ (docs/gpu.md).
//
// No function here initialises a driver, makes a context current or changes the program's state
// (except errno, which the caller keeps). Level Zero's makes its own context in each driver.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/device_kinds.hpp"

namespace uctrace::gpu {

using log::DeviceMemoryKind;

// The driver's answer about an address.
struct Answer {
  enum class What : std::uint8_t { host, known, failed };
  What what = What::failed;
  DeviceMemoryKind kind = DeviceMemoryKind::none;
  log::Vendor vendor = log::Vendor::none;  // set by the asking code
  int device = -1;                         // ordinal among the vendor's devices in this process, -1
                                           // = none
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;  // 0: the driver does not tell its extent
  // Differs from the ids of all other memory, past or present; 0: the driver tells none.
  std::uint64_t buffer_id = 0;
  int error = 0;  // `failed`: the driver's number, or one of these
};

// The driver answered with a location that its layer does not know.
inline constexpr int kUnknownLocation = -1;
// Too many pieces of memory have no known end: no more of them are defined.
inline constexpr int kTooManyWithoutExtent = -2;
// The drivers that can be asked do not know the address, and another driver cannot be asked.
inline constexpr int kUnusableDriver = -3;

// Identifies a device independently of the program's numbering.
struct DeviceFacts {
  unsigned char uuid[16];      // of the instance, if the GPU is divided
  unsigned char gpu_uuid[16];  // of the whole GPU
  std::uint32_t pci_domain;
  std::uint8_t pci_bus, pci_device, pci_function;
  std::uint64_t memory_bytes;
  char name[64];
};

struct Vendor {
  log::Vendor name;
  const char* library;  // its soname: asked only if the program has loaded it
  // Finds the functions in the library. On false, `*missing` is one that it lacks.
  bool (*resolve)(void* library, const char** missing);
  int (*version)();
  int (*device_count)();
  bool (*describe)(int device, DeviceFacts& facts);
  Answer (*query)(std::uintptr_t address);
  // The id of the memory at the address, 0 = no memory, or no id: cheaper than a query. Returns the
  // driver's error, 0 = it answered. nullptr: this driver has no ids.
  int (*buffer_id)(std::uintptr_t address, std::uint64_t& id) = nullptr;
  // In a fork child, before any question: forgets the parent's answers. nullptr: it keeps nothing
  // that a child may not use.
  void (*start_anew)() = nullptr;
};

extern const Vendor kCuda, kRocm, kLevelZero;

// The vendors to look for. The loaded ones are asked in this order until one knows the address.
// Ends with a nullptr.
extern const Vendor* const kVendors[];

}  // namespace uctrace::gpu

// The part of Level Zero that uctrace calls. The prototypes are our own, so no oneAPI is needed;
// their numbers are part of Level Zero's ABI.
#pragma once

#include <cstddef>
#include <cstdint>

namespace uctrace::gpu::level_zero {

using Result = unsigned;
using Handle = void*;  // of drivers, devices and contexts alike

inline constexpr Result kSuccess = 0, kUninitialized = 0x78000001, kAddressNotFound = 0x78000021;

// ze_structure_type_t: each structure begins with its own.
enum StructureType : unsigned {
  kDeviceProperties = 0x3,
  kDeviceMemoryProperties = 0x7,
  kContextDescription = 0xd,
  kAllocationProperties = 0x17,
  kPciProperties = 0x10008,
};

struct Header {
  StructureType type;
  void* next = nullptr;
};

// ze_device_properties_t.
struct DeviceProperties {
  Header header{kDeviceProperties};
  unsigned type;  // ze_device_type_t
  std::uint32_t vendor, device, flags, sub_device, clock;
  std::uint64_t largest_allocation;
  std::uint32_t contexts, priorities, threads_per_unit, width, units_per_slice, slices_per_slice,
      slices;
  std::uint64_t timer_resolution;
  std::uint32_t timestamp_bits, kernel_timestamp_bits;
  unsigned char uuid[16];
  char name[256];
};
inline constexpr unsigned kGpu = 1;  // ZE_DEVICE_TYPE_GPU

// ze_pci_ext_properties_t.
struct PciProperties {
  Header header{kPciProperties};
  std::uint32_t domain, bus, device, function;
  std::int32_t generation, width;
  std::int64_t bandwidth;
};

// ze_device_memory_properties_t.
struct DeviceMemoryProperties {
  Header header{kDeviceMemoryProperties};
  std::uint32_t flags, clock, width;
  std::uint64_t bytes;
  char name[256];
};

// ze_memory_allocation_properties_t.
struct AllocationProperties {
  Header header{kAllocationProperties};
  unsigned type = 0;  // ze_memory_type_t
  std::uint64_t id = 0, page_bytes = 0;
};
// The last one exists since 1.15.
inline constexpr unsigned kUnknown = 0, kHost = 1, kDevice = 2, kShared = 3, kHostImported = 4;

// ze_context_desc_t.
struct ContextDescription {
  Header header{kContextDescription};
  std::uint32_t flags = 0;
};

struct Functions {
  Result (*get_drivers)(std::uint32_t*, Handle*);
  Result (*get_version)(Handle, std::uint32_t*);
  Result (*get_devices)(Handle, std::uint32_t*, Handle*);
  Result (*get_sub_devices)(Handle, std::uint32_t*, Handle*);
  Result (*get_device)(Handle, DeviceProperties*);
  Result (*create_context)(Handle, const ContextDescription*, Handle*);
  Result (*get_allocation)(Handle, const void*, AllocationProperties*, Handle*);
  Result (*get_range)(Handle, const void*, void**, std::size_t*);
  // nullptr in older loaders, or where an extension is missing.
  Result (*get_root)(Handle, Handle*);
  Result (*get_pci)(Handle, PciProperties*);
  Result (*get_memories)(Handle, std::uint32_t*, DeviceMemoryProperties*);
  Result (*get_access)(Handle, const void*, std::size_t, unsigned*, std::size_t*);
};

}  // namespace uctrace::gpu::level_zero

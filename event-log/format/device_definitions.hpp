// Definitions of devices and their memory.
#pragma once

#include "event-log/format/device_kinds.hpp"
#include "event-log/format/file_layout.hpp"

namespace uctrace::log {

// Where a device is on the PCI bus of its host.
struct PciAddress {
  std::uint32_t domain;
  std::uint8_t bus, device, function;
};

// A driver was there at `tick`, and not yet at `not_before_tick`. Operations recorded in between
// without their memory may use any memory. Before that, and without a driver, all is host memory.
struct GpuDriver {
  Head head;  // a: Vendor, b: version
  std::uint64_t tick;
  std::uint64_t not_before_tick;
};
static_assert(sizeof(GpuDriver) == 24);

struct GpuDevice {
  static constexpr unsigned kVendorShift = 24;
  // a: number, from 1; b: ordinal, as this process counts those of the vendor, and Vendor <<
  // kVendorShift, which older logs do not have
  Head head;
  std::uint64_t tick;
  unsigned char uuid[16];      // of an instance, if the GPU is divided (MIG)
  unsigned char gpu_uuid[16];  // of the whole GPU
  PciAddress pci;
  std::uint64_t memory_bytes;
  char name[64];
};
static_assert(sizeof(GpuDevice) == 128);

// Memory that a driver knows of, first met at `tick`.
struct DeviceMemory {
  static constexpr std::uint8_t kAllocated = 1;  // `tick` is when it was allocated
  Head head;  // a: number of the GpuDevice, 0 = on the host, or not known; b: MemoryId
  std::uint64_t tick;
  std::uint64_t begin;
  std::uint64_t
      bytes;  // 0: its extent is not known, or its end will not be; one operation names it
  std::uint64_t buffer_id;  // by which the driver distinguishes it from all others, 0 = none
  DeviceMemoryKind kind;
  std::uint8_t flags;
  std::uint8_t reserved[6];
};
static_assert(sizeof(DeviceMemory) == 48);

// The memory was gone at `tick`; at `alive_tick` it was still there.
struct DeviceMemoryEnd {
  Head head;  // a: MemoryEnd, b: MemoryId
  std::uint64_t tick;
  std::uint64_t alive_tick;
};
static_assert(sizeof(DeviceMemoryEnd) == 24);

// A device as UCX numbers them: network cards and GPUs alike.
struct UcxDevice {
  Head head;  // a: its number
  std::uint64_t tick;
  PciAddress pci;
  char name[32];
};
static_assert(sizeof(UcxDevice) == 56);

// What kernels on a GPU may use by themselves from `tick` on (UCX 1.20): an endpoint, or memory at
// this end, at the other one, or both. Data that they move with it passes no library on the host.
struct KernelAccess {
  Head head;  // a: MemoryFunction that gave it, b: MemoryId of `local`
  std::uint64_t tick;
  std::uint64_t handle;    // of the list, element or device endpoint: a MemoryCall's key
  std::uint64_t endpoint;  // uct_ep_h of a kernel_endpoint, else ucp_ep_h; 0 = not told
  std::uint64_t local;     // addresses, 0 = none
  std::uint64_t remote;
  std::uint64_t bytes;
};
static_assert(sizeof(KernelAccess) == 56);

}  // namespace uctrace::log

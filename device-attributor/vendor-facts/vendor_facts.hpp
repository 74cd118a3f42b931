// Facts about GPU vendors, except how to ask their drivers (vendor.hpp). For all code that must
// know a vendor by name, in the job and offline. Each vendor is one row.
#pragma once

#include <cstddef>
#include <iterator>

#include "event-log/format/device_kinds.hpp"

namespace uctrace::gpu {

struct VendorFacts {
  log::Vendor vendor;
  const char* name;   // in stores and JSON
  const char* title;  // in sentences
  // Prefixes of the names of libraries through which a process may get memory of this vendor;
  // nullptr: there is no second one.
  const char* libraries[2];
  // The kernel's entry in /dev if there are GPUs of it; nullptr: only the driver can tell. Without
  // it the driver is not asked: UCX is linked with ROCm's driver and loads it on machines without a
  // GPU, and hwloc opens Level Zero's loader.
  const char* device;
  // One of these exists if the kernel's part of the driver is installed; nullptr: there is no
  // second one.
  const char* installed[2];
  const char* direct;  // the way past host memory, in sentences
  // The variable naming the library that the driver loads to report allocations; nullptr: there is
  // none.
  const char* history_variable;
  const char* part;        // prefix of the id of an instance of a divided GPU
  std::size_t uuid_bytes;  // that the vendor's tools show
};

inline constexpr VendorFacts kVendorFacts[] = {
    {.vendor = log::Vendor::cuda,
     .name = "cuda",
     .title = "CUDA",
     .libraries = {"libcuda.so", nullptr},
     .device = nullptr,
     .installed = {"/dev/nvidiactl", nullptr},
     .direct = "within a host cuda_ipc, between hosts nvidia-peermem or dma-buf",
     .history_variable = "CUDA_INJECTION64_PATH",
     .part = "MIG",
     .uuid_bytes = 16},
    {.vendor = log::Vendor::rocm,
     .name = "rocm",
     .title = "ROCm",
     .libraries = {"libamdhip64.so", "libhsa-runtime64.so"},
     .device = "/dev/kfd",
     .installed = {"/dev/kfd", nullptr},
     .direct = "within a host rocm_ipc, between hosts amdgpu's peer memory or dma-buf",
     .history_variable = nullptr,
     .part = "GPU",
     .uuid_bytes = 8},
    {.vendor = log::Vendor::level_zero,
     .name = "level_zero",
     .title = "Level Zero",
     .libraries = {"libze_intel_gpu", nullptr},
     .device = "/dev/dri",
     .installed = {"/sys/bus/pci/drivers/xe", "/sys/bus/pci/drivers/i915"},
     .direct = "dma-buf, where UCX has it for these GPUs",
     .history_variable = nullptr,
     .part = "TILE",
     .uuid_bytes = 16},
};

// Places of vendors count from 0, in the order of their numbers in the log.
inline constexpr std::size_t kVendorCount = std::size(kVendorFacts);
static_assert(kVendorCount + 1 == static_cast<std::size_t>(log::Vendor::kCount));

constexpr std::size_t place_of(log::Vendor vendor) { return static_cast<std::size_t>(vendor) - 1; }

static_assert(kVendorFacts[place_of(log::Vendor::cuda)].vendor == log::Vendor::cuda &&
              kVendorFacts[place_of(log::Vendor::rocm)].vendor == log::Vendor::rocm &&
              kVendorFacts[place_of(log::Vendor::level_zero)].vendor == log::Vendor::level_zero);

// nullptr: no vendor has this number.
constexpr const VendorFacts* facts_of(log::Vendor vendor) {
  const std::size_t place = place_of(vendor);
  return place < kVendorCount ? &kVendorFacts[place] : nullptr;
}

}  // namespace uctrace::gpu

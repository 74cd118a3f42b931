// What tells the vendors of GPUs apart, but for how their drivers are asked (vendor.hpp). For all
// who have to know one by name, in the job and offline; each vendor is one row here.
#pragma once

#include <cstddef>
#include <iterator>

#include "event-log/format/device_kinds.hpp"

namespace uctrace::gpu {

struct VendorFacts {
  log::Vendor vendor;
  const char* name;   // in stores and JSON
  const char* title;  // in sentences
  // How the names of the libraries begin with which a process may have memory of this vendor;
  // nullptr: there is no other.
  const char* libraries[2];
  // What the kernel has where there are GPUs of it, in /dev; nullptr: only the driver can tell.
  // Without it the driver is not asked: UCX is linked with ROCm's and loads it on machines without
  // a GPU, and hwloc opens Level Zero's loader to look around.
  const char* device;
  // Of these one is there where the kernel's part of the driver is installed; nullptr: there is no
  // other.
  const char* installed[2];
  const char* direct;  // by what data leaves a GPU without the host's memory, in sentences
  // Names the library that the driver loads to tell of allocations; nullptr: there is no such way.
  const char* history_variable;
  const char* part;        // how the id begins of an instance of a GPU that is divided
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

// Vendors have places from 0 on, in the order of their numbers in the log.
inline constexpr std::size_t kVendorCount = std::size(kVendorFacts);
static_assert(kVendorCount + 1 == static_cast<std::size_t>(log::Vendor::kCount));

constexpr std::size_t place_of(log::Vendor vendor) { return static_cast<std::size_t>(vendor) - 1; }

static_assert(kVendorFacts[place_of(log::Vendor::cuda)].vendor == log::Vendor::cuda &&
              kVendorFacts[place_of(log::Vendor::rocm)].vendor == log::Vendor::rocm &&
              kVendorFacts[place_of(log::Vendor::level_zero)].vendor == log::Vendor::level_zero);

// nullptr: a number that no vendor has.
constexpr const VendorFacts* facts_of(log::Vendor vendor) {
  const std::size_t place = place_of(vendor);
  return place < kVendorCount ? &kVendorFacts[place] : nullptr;
}

}  // namespace uctrace::gpu

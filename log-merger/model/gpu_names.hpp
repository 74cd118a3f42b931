// How a GPU is called, by what its driver tells of it.
#pragma once

#include <string>

#include "device-attributor/vendor-facts/vendor_facts.hpp"
#include "event-log/format/device_definitions.hpp"

namespace uctrace {

using GpuUuid = unsigned char[16];

struct GpuNames {
  std::string uuid;      // "GPU-...", of a part "MIG-..."
  std::string gpu_uuid;  // of the whole GPU
  std::string bus;       // "0000:10:00.0"
};

// `uuid` is that of the part, where the GPU is divided. A vendor that is not known is taken for the
// first one, whose form most have.
GpuNames names_of_gpu(log::Vendor vendor, const GpuUuid& uuid, const GpuUuid& gpu_uuid,
                      const log::PciAddress& pci);

std::string bus_text(const log::PciAddress& pci);

}  // namespace uctrace

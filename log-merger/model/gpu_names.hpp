// The name of a GPU, from its driver's facts.
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

// `uuid` is that of the part if the GPU is divided. An unknown vendor gets the first one's form,
// which most have.
GpuNames names_of_gpu(log::Vendor vendor, const GpuUuid& uuid, const GpuUuid& gpu_uuid,
                      const log::PciAddress& pci);

std::string bus_text(const log::PciAddress& pci);

}  // namespace uctrace

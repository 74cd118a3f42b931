#include "log-merger/model/gpu_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace uctrace {

namespace {

bool is_zero(const GpuUuid& uuid) {
  return std::all_of(std::begin(uuid), std::end(uuid),
                     [](unsigned char byte) { return byte == 0; });
}

// As printed by the vendor's tools: all 16 bytes with dashes, or fewer without.
std::string uuid_text(const char* kind, const GpuUuid& uuid, std::size_t bytes) {
  std::string text = kind;
  for (std::size_t i = 0; i < bytes; ++i) {
    const bool dash =
        i == 0 || (bytes == std::size(uuid) && (i == 4 || i == 6 || i == 8 || i == 10));
    text += fmt::format("{}{:02x}", dash ? "-" : "", uuid[i]);
  }
  return text;
}

// A GPU whose driver tells no UUID is named by its place on the bus.
std::string name_of(const char* kind, const GpuUuid& uuid, std::size_t bytes,
                    const std::string& bus) {
  return is_zero(uuid) ? fmt::format("{}-{}", kind, bus) : uuid_text(kind, uuid, bytes);
}

}  // namespace

std::string bus_text(const log::PciAddress& pci) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.device, pci.function);
}

GpuNames names_of_gpu(log::Vendor vendor, const GpuUuid& uuid, const GpuUuid& gpu_uuid,
                      const log::PciAddress& pci) {
  const gpu::VendorFacts* known = gpu::facts_of(vendor);
  const gpu::VendorFacts& facts = known != nullptr ? *known : gpu::kVendorFacts[0];
  const bool is_whole = std::equal(std::begin(uuid), std::end(uuid), std::begin(gpu_uuid));
  const std::string bus = bus_text(pci);
  return {.uuid = name_of(is_whole ? "GPU" : facts.part, uuid, facts.uuid_bytes, bus),
          .gpu_uuid = name_of("GPU", gpu_uuid, facts.uuid_bytes, bus),
          .bus = bus};
}

}  // namespace uctrace

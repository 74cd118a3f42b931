#include "log-merger/load/load_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "device-attributor/vendor-facts/vendor_facts.hpp"
#include "event-log/reader/plain_text.hpp"
#include "log-merger/memory/memory.hpp"

namespace uctrace::merge {

namespace {

std::string bus_text(const log::PciAddress& pci) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.device, pci.function);
}

using Uuid = unsigned char[16];

bool is_zero(const Uuid& uuid) {
  return std::all_of(std::begin(uuid), std::end(uuid),
                     [](unsigned char byte) { return byte == 0; });
}

// As the drivers' own tools print it: all 16 bytes with dashes, or fewer without.
std::string uuid_text(const char* kind, const Uuid& uuid, std::size_t bytes) {
  std::string text = kind;
  for (std::size_t i = 0; i < bytes; ++i) {
    const bool dash =
        i == 0 || (bytes == std::size(uuid) && (i == 4 || i == 6 || i == 8 || i == 10));
    text += fmt::format("{}{:02x}", dash ? "-" : "", uuid[i]);
  }
  return text;
}

// A GPU whose driver tells no UUID is named by its place on the bus.
std::string name_of_gpu(const char* kind, const Uuid& uuid, std::size_t bytes,
                        const std::string& bus) {
  return is_zero(uuid) ? fmt::format("{}-{}", kind, bus) : uuid_text(kind, uuid, bytes);
}

}  // namespace

void DeviceLoader::take(const log::GpuDeviceView& view) {
  devices_.try_emplace(view.number(), Device{view.r, view.vendor(), plain_text(view.name)});
}

void DeviceLoader::take(const log::DeviceMemoryEndView& view) {
  ends_.try_emplace(view.id(), view.r);
}

void DeviceLoader::take(const log::UcxDeviceView& view) {
  log_.devices.ucx_device_buses.try_emplace(view.number(),
                                            job_.run.texts.intern(bus_text(view.r.pci)));
}

// In older logs a device does not say whose it is: it is told where all drivers are of one vendor.
log::Vendor DeviceLoader::vendor_of(const Device& device) const {
  if (device.vendor != log::Vendor::none) return device.vendor;
  const std::vector<log::GpuDriver>& drivers = log_.devices.drivers;
  const bool one = std::all_of(drivers.begin(), drivers.end(), [&](const log::GpuDriver& driver) {
    return driver.head.a == drivers.front().head.a;
  });
  return drivers.empty() || !one ? log::Vendor::none
                                 : static_cast<log::Vendor>(drivers.front().head.a);
}

Gpu DeviceLoader::gpu_of(const Device& device) const {
  // What is known of no vendor is shown in the form that most have.
  const gpu::VendorFacts* known = gpu::facts_of(vendor_of(device));
  const gpu::VendorFacts& facts = known != nullptr ? *known : gpu::kVendorFacts[0];
  const log::GpuDevice& r = device.r;
  const bool whole = std::equal(std::begin(r.uuid), std::end(r.uuid), std::begin(r.gpu_uuid));
  const std::string bus = bus_text(r.pci);
  Texts& texts = job_.run.texts;
  Gpu gpu;
  gpu.host = texts.intern(plain_text(log_.file.host()));
  gpu.uuid = texts.intern(name_of_gpu(whole ? "GPU" : facts.part, r.uuid, facts.uuid_bytes, bus));
  gpu.gpu_uuid = texts.intern(name_of_gpu("GPU", r.gpu_uuid, facts.uuid_bytes, bus));
  gpu.bus = texts.intern(bus);
  gpu.name = texts.intern(device.name);
  gpu.vendor = known != nullptr ? texts.intern(facts.name) : kNoText;
  gpu.memory_bytes = r.memory_bytes;
  return gpu;
}

// Processes of a host that use one GPU mean the same row, whatever they count it as.
Index DeviceLoader::add_gpu(const Gpu& gpu) {
  std::vector<Gpu>& rows = job_.run.gpus;
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Gpu& row) {
    return row.host == gpu.host && row.uuid == gpu.uuid;
  });
  if (found != rows.end()) return static_cast<Index>(found - rows.begin());
  rows.push_back(gpu);
  return static_cast<Index>(rows.size()) - 1;
}

KnownMemory DeviceLoader::known(const log::DeviceMemory& r) {
  const auto gpu = gpu_rows_.find(r.head.a);
  const auto end = ends_.find(r.head.b);
  KnownMemory memory;
  memory.id = r.head.b;
  memory.kind = r.kind;
  memory.gpu = gpu == gpu_rows_.end() ? kNone : gpu->second;
  memory.begin = r.begin;
  memory.end = r.begin + r.bytes;
  memory.from_ns = log_.clock.job_ns(r.tick);
  memory.row = static_cast<Index>(job_.run.device_memory.size());
  DeviceMemoryRow row;
  row.process = static_cast<std::uint32_t>(process_.number());
  row.gpu = memory.gpu;
  row.kind = job_.run.texts.intern(name_of(r.kind));
  row.allocated = (r.flags & log::DeviceMemory::kAllocated) != 0;
  row.address = r.begin;
  row.bytes = r.bytes;
  row.from_ns = memory.from_ns;
  if (end != ends_.end()) {
    memory.alive_ns = std::max(memory.from_ns, log_.clock.job_ns(end->second.alive_tick));
    row.alive_ns = memory.alive_ns;
    row.to_ns = log_.clock.job_ns(end->second.tick);
  }
  job_.run.device_memory.push_back(row);
  return memory;
}

void DeviceLoader::finish() {
  for (const auto& [number, device] : devices_) {
    gpu_rows_[number] = add_gpu(gpu_of(device));  // also one that nothing was allocated on
  }
  std::vector<KnownMemory> memory;
  for (const auto& [id, record] : memory_) memory.push_back(known(record));
  log_.devices.set_memory(std::move(memory));
}

}  // namespace uctrace::merge

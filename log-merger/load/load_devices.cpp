#include "log-merger/load/load_devices.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "device-attributor/vendor-facts/vendor_facts.hpp"
#include "event-log/reader/plain_text.hpp"
#include "log-merger/memory/memory.hpp"
#include "log-merger/model/gpu_names.hpp"

namespace uctrace::merge {

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

// In older logs devices have no vendor: it is known if all drivers are of one vendor.
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
  const log::Vendor vendor = vendor_of(device);
  const gpu::VendorFacts* known = gpu::facts_of(vendor);
  const log::GpuDevice& r = device.r;
  const GpuNames names = names_of_gpu(vendor, r.uuid, r.gpu_uuid, r.pci);
  Texts& texts = job_.run.texts;
  Gpu gpu;
  gpu.host = texts.intern(plain_text(log_.file.host()));
  gpu.uuid = texts.intern(names.uuid);
  gpu.gpu_uuid = texts.intern(names.gpu_uuid);
  gpu.bus = texts.intern(names.bus);
  gpu.name = texts.intern(device.name);
  gpu.vendor = known != nullptr ? texts.intern(known->name) : kNoText;
  gpu.memory_bytes = r.memory_bytes;
  return gpu;
}

// Processes of a host that use the same GPU share a row, whatever ordinals they use.
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
    gpu_rows_[number] = add_gpu(gpu_of(device));  // even without allocations
  }
  std::vector<KnownMemory> memory;
  for (const auto& [id, record] : memory_) memory.push_back(known(record));
  log_.devices.set_memory(std::move(memory));
}

}  // namespace uctrace::merge

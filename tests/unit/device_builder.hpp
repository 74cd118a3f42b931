// Adds GPUs and their memory to jobs of a JobBuilder.
#pragma once

#include <cstdint>
#include <string>

#include "log-merger/memory/memory.hpp"
#include "tests/unit/job_builder.hpp"

namespace uctrace::merge::test {

inline void add_driver(JobBuilder& builder, Rank process, std::uint64_t tick = 0,
                       std::uint64_t not_before_tick = 0) {
  log::GpuDriver driver{};
  driver.head.a = static_cast<std::uint16_t>(log::Vendor::cuda);
  driver.tick = tick;
  driver.not_before_tick = not_before_tick;
  builder.log(process).devices.drivers.push_back(driver);
}

// A GPU of host "node1"; returns its row.
inline Index add_gpu(JobBuilder& builder, const std::string& bus) {
  Run& run = builder.job.run;
  Gpu gpu;
  gpu.host = run.texts.intern("node1");
  gpu.uuid = gpu.gpu_uuid = run.texts.intern("GPU-" + bus);
  gpu.bus = run.texts.intern(bus);
  run.gpus.push_back(gpu);
  return static_cast<Index>(run.gpus.size()) - 1;
}

inline MemoryPlace on_gpu(Index gpu) { return {MemoryKind::gpu, gpu}; }

// Memory of a process that has a driver. `from_ns`, `alive_ns`: as in KnownMemory.
struct Life {
  std::int64_t from_ns = 0, alive_ns = INT64_MAX;
};
inline void add_memory(JobBuilder& builder, Rank process, log::MemoryId id, Index gpu,
                       std::uint64_t begin, std::uint64_t bytes,
                       log::DeviceMemoryKind kind = log::DeviceMemoryKind::device, Life life = {}) {
  KnownMemory memory;
  memory.id = id;
  memory.kind = kind;
  memory.gpu = gpu;
  memory.row = static_cast<Index>(builder.job.run.device_memory.size());
  memory.begin = begin;
  memory.end = begin + bytes;
  memory.from_ns = life.from_ns;
  memory.alive_ns = life.alive_ns;
  DeviceMemoryRow row;
  row.process = static_cast<std::uint32_t>(process.number());
  row.gpu = gpu;
  row.kind = builder.job.run.texts.intern(name_of(kind));
  builder.job.run.device_memory.push_back(row);
  std::vector<KnownMemory> all{memory};
  Devices& devices = builder.log(process).devices;
  for (log::MemoryId other = log::kFirstDeviceMemory; other < id; ++other) {
    if (const KnownMemory* known = devices.find(other)) all.push_back(*known);
  }
  devices.set_memory(std::move(all));
}

}  // namespace uctrace::merge::test

// The devices of a log and their memory, into ProcessLog::devices and the tables of the run. A part
// of ProcessLoader.
#pragma once

#include <concepts>
#include <map>
#include <string>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

template <typename View>
concept DeviceDefinition = std::same_as<View, log::GpuDriverView> ||
    std::same_as<View, log::GpuDeviceView> || std::same_as<View, log::DeviceMemoryView> ||
    std::same_as<View, log::DeviceMemoryEndView> || std::same_as<View, log::UcxDeviceView>;

// Takes the definitions of one log in any order; call finish() at their end.
class DeviceLoader {
 public:
  DeviceLoader(Job& job, ProcessIndex process)
      : job_(job), process_(process), log_(job.logs[process]) {}

  void take(const log::GpuDriverView& view) { log_.devices.drivers.push_back(view.r); }
  void take(const log::GpuDeviceView& view);
  // Only the first of several with the same id: the log is damaged.
  void take(const log::DeviceMemoryView& view) { memory_.try_emplace(view.id(), view.r); }
  void take(const log::DeviceMemoryEndView& view);
  void take(const log::UcxDeviceView& view);
  void finish();

 private:
  struct Device {
    log::GpuDevice r;
    log::Vendor vendor;  // none: of an older log
    std::string name;
  };

  Index add_gpu(const Gpu& gpu);
  KnownMemory known(const log::DeviceMemory& r);
  log::Vendor vendor_of(const Device& device) const;
  Gpu gpu_of(const Device& device) const;

  Job& job_;
  const ProcessIndex process_;
  ProcessLog& log_;
  std::map<std::uint16_t, Device> devices_;  // by their numbers in the log
  std::map<std::uint16_t, Index> gpu_rows_;
  std::map<log::MemoryId, log::DeviceMemory> memory_;
  std::map<log::MemoryId, log::DeviceMemoryEnd> ends_;
};

}  // namespace uctrace::merge

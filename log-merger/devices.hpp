// What a log tells of GPU drivers and of the memory that they know of. Private to log-merger/.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "event-log/device_definitions.hpp"
#include "log-merger/index.hpp"
#include "log-merger/model.hpp"

namespace uctrace::merge {

// One DeviceMemory, from when it was met to its end.
struct KnownMemory {
  log::MemoryId id = 0;
  log::DeviceMemoryKind kind = log::DeviceMemoryKind::none;
  Index gpu = kNone;  // into Run::gpus
  Index row = kNone;  // into Run::device_memory
  std::uint64_t begin = 0, end = 0;
  std::int64_t from_ns = 0;
  std::int64_t alive_ns = INT64_MAX;  // it was surely there until then

  bool has_unknown_extent() const { return begin == end; }
  bool holds(std::uint64_t address) const { return begin <= address && address < end; }
};

struct Devices {
  std::vector<log::GpuDriver> drivers;
  std::vector<KnownMemory> memory;                   // by id
  std::map<std::uint16_t, TextId> ucx_device_buses;  // by UCX's number of the device
  std::uint64_t memory_words = 0;                    // in records of operations

  // nullptr: its definition is not in the log.
  const KnownMemory* find(log::MemoryId id) const;
};

}  // namespace uctrace::merge

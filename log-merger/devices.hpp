// What a log tells of GPU drivers and of the memory that they know of. Private to log-merger/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "event-log/device_definitions.hpp"
#include "log-merger/index.hpp"
#include "log-merger/model.hpp"

namespace uctrace::merge {

// One DeviceMemory, from when it was met to its end.
struct KnownMemory {
  log::MemoryId id = 0;
  log::DeviceMemoryKind kind = log::DeviceMemoryKind::none;
  Index gpu = kNone;                 // into Run::gpus
  Index row = kNone;                 // into Run::device_memory
  std::uint64_t begin = 0, end = 0;  // equal: its extent is not known
  std::int64_t from_ns = 0;
  std::int64_t alive_ns = INT64_MAX;  // it was surely there until then
};

class Devices {
 public:
  std::vector<log::GpuDriver> drivers;
  std::map<std::uint16_t, TextId> ucx_device_buses;  // by UCX's number of the device
  std::uint64_t memory_words = 0;                    // in records of operations
  // Who told what was allocated, and the library that was to tell it; empty: nobody.
  std::string history, wanted_history;

  // Each id once.
  void set_memory(std::vector<KnownMemory> memory);

  // nullptr: its definition is not in the log.
  const KnownMemory* find(log::MemoryId id) const;

  // What lay at the address at any time.
  std::vector<const KnownMemory*> at(std::uint64_t address) const;

  // Whether something may lie anywhere that is not among these: of some memory the extent is not
  // known.
  bool may_have_more() const { return has_unknown_extent_; }

 private:
  struct AtAddress {
    std::uint64_t begin;
    std::uint64_t reach;  // how far this one, and those that begin no later, reach
    std::size_t memory;
  };
  std::vector<KnownMemory> memory_;   // by id
  std::vector<AtAddress> addresses_;  // by where it begins
  bool has_unknown_extent_ = false;
};

}  // namespace uctrace::merge

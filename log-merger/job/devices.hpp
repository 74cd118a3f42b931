// What a log tells of GPU drivers and of the memory that they know of. Private to log-merger/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "event-log/format/device_definitions.hpp"
#include "log-merger/model/index.hpp"
#include "log-merger/model/model.hpp"

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

  // What lay at the address at some time of a period, and may have lain there: all that had been
  // met by its end, and was not known to be over before it began. A search, whatever came and went.
  std::vector<const KnownMemory*> at(std::uint64_t address, std::int64_t begin_ns,
                                     std::int64_t end_ns) const;

  // Whether anything lay there, ever; and it, if it is one thing alone.
  bool ever_at(std::uint64_t address) const;
  const KnownMemory* only_at(std::uint64_t address) const;

  // Whether something may lie anywhere that is not among these: of some memory the extent is not
  // known.
  bool may_have_more() const { return has_unknown_extent_; }

 private:
  struct InTime {
    std::size_t memory;
    std::int64_t alive_ns;  // the longest of this one and of those before it at the same address
  };
  // All memory that begins at one address, in the order in which it was met.
  struct AtAddress {
    std::uint64_t begin, reach;  // reach: the longest of it
    std::size_t first, last;     // [first, last) of in_time_
    std::size_t before;          // the nearest before it that reaches further; its own place: none
  };
  // The last of the first `count` that reaches the address.
  const AtAddress* last_reaching(std::size_t count, std::uint64_t address) const;
  const AtAddress* last_reaching(std::uint64_t address) const;
  const AtAddress* next_reaching(const AtAddress* place, std::uint64_t address) const;
  void add_claims(const AtAddress& place, std::uint64_t address, std::int64_t begin_ns,
                  std::int64_t end_ns, std::vector<const KnownMemory*>& found) const;

  std::vector<KnownMemory> memory_;  // by id
  std::vector<InTime> in_time_;
  std::vector<AtAddress> addresses_;  // by address
  bool has_unknown_extent_ = false;
};

}  // namespace uctrace::merge

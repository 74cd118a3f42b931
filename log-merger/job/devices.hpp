// A log's GPU drivers and the memory that they know. Private to log-merger/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "event-log/format/device_definitions.hpp"
#include "log-merger/model/index.hpp"
#include "log-merger/model/model.hpp"

namespace uctrace::merge {

// One DeviceMemory, from when it was first seen to its end.
struct KnownMemory {
  log::MemoryId id = 0;
  log::DeviceMemoryKind kind = log::DeviceMemoryKind::none;
  Index gpu = kNone;                 // into Run::gpus
  Index row = kNone;                 // into Run::device_memory
  std::uint64_t begin = 0, end = 0;  // equal: its extent is not known
  std::int64_t from_ns = 0;
  std::int64_t alive_ns = INT64_MAX;  // it certainly existed until then
};

class Devices {
 public:
  std::vector<log::GpuDriver> drivers;
  std::map<std::uint16_t, TextId> ucx_device_buses;  // by UCX's number of the device
  std::uint64_t memory_words = 0;                    // in records of operations
  // The reporter of allocations, and the library that should have reported them; empty: nobody.
  std::string history, wanted_history;

  // Each id once.
  void set_memory(std::vector<KnownMemory> memory);

  // nullptr: its definition is not in the log.
  const KnownMemory* find(log::MemoryId id) const;

  // Memory that was, or may have been, at the address during a period: it had been seen by the end
  // of the period, and was not known to have ended before it began. Logarithmic, however many
  // allocations came and went.
  std::vector<const KnownMemory*> at(std::uint64_t address, std::int64_t begin_ns,
                                     std::int64_t end_ns) const;

  // Whether anything was ever there; and which, if it is only one.
  bool ever_at(std::uint64_t address) const;
  const KnownMemory* only_at(std::uint64_t address) const;

  // Whether unknown memory may be anywhere: the extent of some memory is not known.
  bool may_have_more() const { return has_unknown_extent_; }

 private:
  struct InTime {
    std::size_t memory;
    std::int64_t alive_ns;  // the latest of this one and those before it at the same address
  };
  // All memory that begins at one address, in the order in which it was first seen.
  struct AtAddress {
    std::uint64_t begin, reach;  // reach: the longest of it
    std::size_t first, last;     // [first, last) of in_time_
    std::size_t before;          // the nearest one before it that reaches further; itself: none
  };
  // The last of the first `count` that contains the address.
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

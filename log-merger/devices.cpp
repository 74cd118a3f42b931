#include "log-merger/devices.hpp"

#include <algorithm>
#include <utility>

namespace uctrace::merge {

void Devices::set_memory(std::vector<KnownMemory> memory) {
  std::stable_sort(memory.begin(), memory.end(),
                   [](const KnownMemory& a, const KnownMemory& b) { return a.id < b.id; });
  memory_ = std::move(memory);
  addresses_.clear();
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    addresses_.push_back({memory_[i].begin, memory_[i].end, i});
    has_unknown_extent_ |= memory_[i].begin == memory_[i].end;
  }
  std::stable_sort(addresses_.begin(), addresses_.end(),
                   [](const AtAddress& a, const AtAddress& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < addresses_.size(); ++i) {
    addresses_[i].reach = std::max(addresses_[i].reach, addresses_[i - 1].reach);
  }
}

const KnownMemory* Devices::find(log::MemoryId id) const {
  const auto found = std::lower_bound(
      memory_.begin(), memory_.end(), id,
      [](const KnownMemory& row, log::MemoryId wanted) { return row.id < wanted; });
  return found != memory_.end() && found->id == id ? &*found : nullptr;
}

std::vector<const KnownMemory*> Devices::at(std::uint64_t address) const {
  std::vector<const KnownMemory*> found;
  auto next = std::partition_point(addresses_.begin(), addresses_.end(),
                                   [&](const AtAddress& a) { return a.begin <= address; });
  while (next != addresses_.begin() && (--next)->reach > address) {
    const KnownMemory& memory = memory_[next->memory];
    if (address < memory.end) found.push_back(&memory);
  }
  return found;
}

}  // namespace uctrace::merge

#include "log-merger/job/devices.hpp"

#include <algorithm>
#include <utility>

namespace uctrace::merge {

void Devices::set_memory(std::vector<KnownMemory> memory) {
  std::stable_sort(memory.begin(), memory.end(),
                   [](const KnownMemory& a, const KnownMemory& b) { return a.id < b.id; });
  memory_ = std::move(memory);
  in_time_.clear();
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    in_time_.push_back({i, memory_[i].alive_ns});
    has_unknown_extent_ |= memory_[i].begin == memory_[i].end;
  }
  std::stable_sort(in_time_.begin(), in_time_.end(), [&](const InTime& a, const InTime& b) {
    const KnownMemory &first = memory_[a.memory], &second = memory_[b.memory];
    return std::pair(first.begin, first.from_ns) < std::pair(second.begin, second.from_ns);
  });
  addresses_.clear();
  for (std::size_t i = 0; i < in_time_.size(); ++i) {
    const KnownMemory& memory = memory_[in_time_[i].memory];
    if (addresses_.empty() || addresses_.back().begin != memory.begin) {
      addresses_.push_back({memory.begin, memory.end, i, i + 1, addresses_.size()});
    } else {
      AtAddress& place = addresses_.back();
      place.reach = std::max(place.reach, memory.end);
      place.last = i + 1;
      in_time_[i].alive_ns = std::max(in_time_[i].alive_ns, in_time_[i - 1].alive_ns);
    }
  }
  for (std::size_t i = 1; i < addresses_.size(); ++i) {
    std::size_t before = i - 1;
    while (addresses_[before].reach <= addresses_[i].reach && addresses_[before].before != before) {
      before = addresses_[before].before;
    }
    if (addresses_[before].reach > addresses_[i].reach) addresses_[i].before = before;
  }
}

const KnownMemory* Devices::find(log::MemoryId id) const {
  const auto found = std::lower_bound(
      memory_.begin(), memory_.end(), id,
      [](const KnownMemory& row, log::MemoryId wanted) { return row.id < wanted; });
  return found != memory_.end() && found->id == id ? &*found : nullptr;
}

// Among memory with one beginning: from the last one seen in time back to where everything had
// ended before.
void Devices::add_claims(const AtAddress& place, std::uint64_t address, std::int64_t begin_ns,
                         std::int64_t end_ns, std::vector<const KnownMemory*>& found) const {
  const auto first = in_time_.begin() + static_cast<std::ptrdiff_t>(place.first);
  auto next = std::partition_point(
      first, in_time_.begin() + static_cast<std::ptrdiff_t>(place.last),
      [&](const InTime& entry) { return memory_[entry.memory].from_ns <= end_ns; });
  while (next != first && (--next)->alive_ns >= begin_ns) {
    const KnownMemory& memory = memory_[next->memory];
    if (address < memory.end && memory.alive_ns >= begin_ns) found.push_back(&memory);
  }
}

const Devices::AtAddress* Devices::last_reaching(std::size_t count, std::uint64_t address) const {
  while (count-- > 0) {
    const AtAddress& place = addresses_[count];
    if (place.reach > address) return &place;
    // Those between reach no further than this one.
    if (place.before == count) break;
    count = place.before + 1;
  }
  return nullptr;
}

const Devices::AtAddress* Devices::last_reaching(std::uint64_t address) const {
  const auto after = std::partition_point(addresses_.begin(), addresses_.end(),
                                          [&](const AtAddress& a) { return a.begin <= address; });
  return last_reaching(static_cast<std::size_t>(after - addresses_.begin()), address);
}

const Devices::AtAddress* Devices::next_reaching(const AtAddress* place,
                                                 std::uint64_t address) const {
  return last_reaching(static_cast<std::size_t>(place - addresses_.data()), address);
}

std::vector<const KnownMemory*> Devices::at(std::uint64_t address, std::int64_t begin_ns,
                                            std::int64_t end_ns) const {
  std::vector<const KnownMemory*> found;
  for (const AtAddress* place = last_reaching(address); place != nullptr;
       place = next_reaching(place, address)) {
    add_claims(*place, address, begin_ns, end_ns, found);
  }
  return found;
}

bool Devices::ever_at(std::uint64_t address) const { return last_reaching(address) != nullptr; }

const KnownMemory* Devices::only_at(std::uint64_t address) const {
  const KnownMemory* found = nullptr;
  for (const AtAddress* place = last_reaching(address); place != nullptr;
       place = next_reaching(place, address)) {
    for (std::size_t i = place->first; i < place->last; ++i) {
      const KnownMemory& memory = memory_[in_time_[i].memory];
      if (address >= memory.end) continue;
      if (found != nullptr) return nullptr;
      found = &memory;
    }
  }
  return found;
}

}  // namespace uctrace::merge

// Rows by the ids that a log gives its records. A table in one piece: nearly every event of a run
// has an entry. Private to log-merger/.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "event-log/reader/reader.hpp"
#include "log-merger/model/index.hpp"

namespace uctrace::merge {

// Is asked as std::unordered_map<log::Id, Index> is.
class IdMap {
 public:
  using Entry = std::pair<log::Id, Index>;

  // Makes room for so many.
  void reserve(std::size_t count) {
    if (!has_room_for(count)) rebuild(std::bit_ceil(count / 3 * 4 + 64));
  }

  // From now on `id` means this row, which is not kNone.
  void set(log::Id id, Index row) {
    if (!has_room_for(used_ + 1)) rebuild(std::max<std::size_t>(2 * slots_.size(), 64));
    Entry& entry = slots_[slot_of(id)];
    used_ += entry.second == kNone;
    entry = {id, row};
  }

  const Entry* find(log::Id id) const {
    if (slots_.empty()) return end();
    const Entry& entry = slots_[slot_of(id)];
    return entry.second == kNone ? end() : &entry;
  }
  const Entry* end() const { return nullptr; }

 private:
  // Threads count their ids: as many neighbours lie beside each other, as their operations do.
  static constexpr unsigned kNeighbourBits = 4;

  // A quarter of the slots stays empty, so that a search soon ends.
  bool has_room_for(std::size_t count) const { return count <= slots_.size() / 4 * 3; }

  // Where `id` is, or else would be added.
  std::size_t slot_of(log::Id id) const {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t group = (id >> kNeighbourBits) * 0x9E3779B97F4A7C15u >> 32;
    const std::uint64_t neighbour = id & ((1u << kNeighbourBits) - 1);
    std::size_t slot = (group << kNeighbourBits | neighbour) & mask;
    while (slots_[slot].second != kNone && slots_[slot].first != id) slot = (slot + 1) & mask;
    return slot;
  }

  void rebuild(std::size_t slots) {
    std::vector<Entry> old(slots, Entry{0, kNone});
    old.swap(slots_);
    for (const Entry& entry : old) {
      if (entry.second != kNone) slots_[slot_of(entry.first)] = entry;
    }
  }

  std::vector<Entry> slots_;  // a power of two; kNone: empty
  std::size_t used_ = 0;
};

}  // namespace uctrace::merge

// Rows by the ids of a log's records. A single table: nearly every event of a run has an entry.
// Private to log-merger/.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "event-log/reader/reader.hpp"
#include "log-merger/model/index.hpp"

namespace uctrace::merge {

// Queried like std::unordered_map<log::Id, Row>. Row: an index.
template <typename Row>
class IdMap {
 public:
  using Entry = std::pair<log::Id, Row>;

  // Makes room for so many.
  void reserve(std::size_t count) {
    if (!has_room_for(count)) rebuild(std::bit_ceil(count / 3 * 4 + 64));
  }

  // Maps `id` to this row, which must not be kNone. Returns whether `id` is new.
  bool set(log::Id id, Row row) {
    if (!has_room_for(used_ + 1)) rebuild(std::max<std::size_t>(2 * slots_.size(), 64));
    return put({id, row});
  }

  const Entry* find(log::Id id) const {
    if (slots_.empty()) return end();
    const std::size_t slot = slot_of(id);
    if (slot != kNoSlot && slots_[slot].second != kNone) return &slots_[slot];
    if (crowded_.empty()) return end();
    const auto found = crowded_.find(id);
    return found == crowded_.end() ? end() : &found->second;
  }
  const Entry* end() const { return nullptr; }

 private:
  // Threads count their ids up: so many ids are kept adjacent, like the operations.
  static constexpr unsigned kNeighbourBits = 4;

  // In a damaged or malicious log all ids may hash to one place: ids without a slot nearby go into
  // an ordered map.
  static constexpr std::size_t kMostLooks = 1024, kNoSlot = SIZE_MAX;

  // A quarter of the slots stays empty, so searches end soon.
  bool has_room_for(std::size_t count) const { return count <= slots_.size() / 4 * 3; }

  // The slot of `id`, or the one for adding it; kNoSlot: not here.
  std::size_t slot_of(log::Id id) const {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t group = (id >> kNeighbourBits) * 0x9E3779B97F4A7C15u >> 32;
    const std::uint64_t neighbour = id & ((1u << kNeighbourBits) - 1);
    std::size_t slot = (group << kNeighbourBits | neighbour) & mask;
    for (std::size_t looks = 0; looks < kMostLooks; ++looks, slot = (slot + 1) & mask) {
      if (slots_[slot].second == kNone || slots_[slot].first == id) return slot;
    }
    return kNoSlot;
  }

  bool put(const Entry& entry) {
    const std::size_t slot = slot_of(entry.first);
    const bool is_free = slot != kNoSlot && slots_[slot].second == kNone;
    if (slot == kNoSlot || (is_free && !crowded_.empty() && crowded_.contains(entry.first))) {
      return crowded_.insert_or_assign(entry.first, entry).second;
    }
    slots_[slot] = entry;
    used_ += is_free;
    return is_free;
  }

  void rebuild(std::size_t slots) {
    std::vector<Entry> old(slots, Entry{0, kNone});
    old.swap(slots_);
    used_ = 0;
    for (const Entry& entry : old) {
      if (entry.second != kNone) put(entry);
    }
  }

  std::vector<Entry> slots_;          // a power of two; kNone: empty
  std::size_t used_ = 0;              // of them
  std::map<log::Id, Entry> crowded_;  // ids that are not among the slots
};

}  // namespace uctrace::merge

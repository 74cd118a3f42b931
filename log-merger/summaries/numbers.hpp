// Numbers for the keys of rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace uctrace::summaries {

// A key of rows, as numbers.
template <std::size_t kCount>
using Key = std::array<std::uint32_t, kCount>;

template <typename... Values>
Key<sizeof...(Values)> key_of(Values... values) {
  return {static_cast<std::uint32_t>(values)...};
}

// Numbers keys in order of first appearance. Contiguous tables: a look-up touches two places in
// memory.
template <typename Of>
class Numbers {
 public:
  // The number, and whether it is new.
  std::pair<std::uint32_t, bool> of(const Of& key) {
    if (keys_.size() >= slots_.size() / 4 * 3) grow();
    const std::uint32_t hash = hash_of(key);
    Slot& slot = slots_[place_of(key, hash)];
    if (slot.next_number != 0) return {slot.next_number - 1, false};
    keys_.push_back(key);
    slot = {hash, static_cast<std::uint32_t>(keys_.size())};
    return {slot.next_number - 1, true};
  }

  std::optional<std::uint32_t> find(const Of& key) const {
    if (slots_.empty()) return std::nullopt;
    const Slot& slot = slots_[place_of(key, hash_of(key))];
    return slot.next_number == 0 ? std::nullopt : std::optional(slot.next_number - 1);
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t next_number = 0;  // the number and one, 0: empty
  };

  static std::uint32_t hash_of(const Of& key) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(key.data()), key.size() * sizeof(std::uint32_t)}));
  }

  // Of the key, or where it would be added.
  std::size_t place_of(const Of& key, std::uint32_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = hash & mask;
    for (;; place = (place + 1) & mask) {
      const Slot& slot = slots_[place];
      if (slot.next_number == 0) return place;
      if (slot.hash == hash && keys_[slot.next_number - 1] == key) return place;
    }
  }

  void grow() {
    constexpr std::size_t kFewest = 64;
    const std::vector<Slot> old =
        std::exchange(slots_, std::vector<Slot>(std::max(kFewest, 2 * slots_.size())));
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.next_number == 0) continue;
      std::size_t place = slot.hash & mask;
      while (slots_[place].next_number != 0) place = (place + 1) & mask;
      slots_[place] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two, of which a quarter is empty
  std::deque<Of> keys_;      // by number; growing moves none
};

}  // namespace uctrace::summaries

// Sums of rows by key.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace uctrace {

// Sorts rows that are sums, and joins those with equal `Sum::key()` by `+=`. Costs one pass if
// there is nothing to do.
template <typename Sum>
void sort_and_join(std::vector<Sum>& rows) {
  const auto is_in_order = [](const Sum& a, const Sum& b) { return a.key() < b.key(); };
  const auto breaks_order = [&](const Sum& a, const Sum& b) { return !is_in_order(a, b); };
  if (std::adjacent_find(rows.begin(), rows.end(), breaks_order) == rows.end()) return;
  std::stable_sort(rows.begin(), rows.end(), is_in_order);
  std::size_t last = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[last].key() == rows[i].key()) {
      rows[last] += rows[i];
    } else {
      rows[++last] = rows[i];
    }
  }
  rows.resize(last + 1);
}

// Collects such rows in any order, one per key. The first four parts of a key are 32-bit numbers.
template <typename Sum>
class Grouped {
 public:
  void add(const Sum& row) {
    if (!rows_.empty() && rows_[last_].key() == row.key()) {
      rows_[last_] += row;  // equal keys often follow each other
      return;
    }
    if (rows_.size() >= slots_.size() / 4 * 3) grow();
    const std::uint32_t hash = hash_of(row);
    Slot& slot = slots_[place_of(row, hash)];
    if (slot.next_row == 0) {
      rows_.push_back(row);
      slot = {hash, static_cast<std::uint32_t>(rows_.size())};
    } else {
      rows_[slot.next_row - 1] += row;
    }
    last_ = slot.next_row - 1;
  }

  // In the order of their keys.
  std::vector<Sum> finish() {
    slots_ = {};
    std::vector<Place> order;
    order.reserve(rows_.size());
    for (std::uint32_t i = 0; i < rows_.size(); ++i) order.push_back(place_of(i));
    std::sort(order.begin(), order.end(), [this](const Place& a, const Place& b) {
      if (a.first != b.first) return a.first < b.first;
      return a.second != b.second ? a.second < b.second
                                  : rows_[a.row].key() < rows_[b.row].key();
    });
    std::vector<Sum> sorted;
    sorted.reserve(rows_.size());
    for (const Place& place : order) sorted.push_back(rows_[place.row]);
    rows_ = {};
    return sorted;
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t next_row = 0;  // the place of the row and one, 0: empty
  };
  // The first parts of the key and the row's place: most comparisons need not touch the row.
  struct Place {
    std::uint64_t first, second;
    std::uint32_t row;
  };

  static std::uint32_t hash_of(const Sum& row) {
    std::uint64_t hash = 0;
    std::apply(
        [&](const auto&... part) {
          ((hash = (std::rotl(hash, 29) ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15u),
           ...);
        },
        row.key());
    return static_cast<std::uint32_t>(hash >> 32);
  }

  // The place of the row with this key, or where it would be added.
  std::size_t place_of(const Sum& row, std::uint32_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t place = hash & mask;; place = (place + 1) & mask) {
      const Slot& slot = slots_[place];
      if (slot.next_row == 0) return place;
      if (slot.hash == hash && rows_[slot.next_row - 1].key() == row.key()) return place;
    }
  }

  // In the order of the numbers.
  template <typename Number>
  static std::uint64_t in_order(Number number) {
    static_assert(std::is_integral_v<Number> && sizeof number == sizeof(std::uint32_t));
    constexpr std::uint32_t kSign = std::is_signed_v<Number> ? std::uint32_t{1} << 31 : 0;
    return static_cast<std::uint32_t>(number) ^ kSign;
  }

  Place place_of(std::uint32_t row) const {
    const auto key = rows_[row].key();
    return {in_order(std::get<0>(key)) << 32 | in_order(std::get<1>(key)),
            in_order(std::get<2>(key)) << 32 | in_order(std::get<3>(key)), row};
  }

  void grow() {
    constexpr std::size_t kFewest = 64;
    const std::vector<Slot> old =
        std::exchange(slots_, std::vector<Slot>(std::max(kFewest, 2 * slots_.size())));
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.next_row == 0) continue;
      std::size_t place = slot.hash & mask;
      while (slots_[place].next_row != 0) place = (place + 1) & mask;
      slots_[place] = slot;
    }
  }

  std::vector<Sum> rows_;
  std::vector<Slot> slots_;  // a power of two; a quarter stays empty
  std::size_t last_ = 0;     // row that was added to
};

}  // namespace uctrace

// Sums by slab of time, of which most come in the order of time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace uctrace {

inline constexpr std::uint32_t kCoarser = 4;  // slabs that become one

template <typename Sum>
class SlabSeries {
 public:
  using Entry = std::pair<std::uint32_t, Sum>;

  // The sum of a slab; `sums` grows where it is new.
  Sum& at(std::uint32_t slab, std::size_t& sums) {
    const auto place = find(slab);
    if (place != entries_.end() && place->first == slab) return place->second;
    ++sums;
    return entries_.insert(place, {slab, Sum{}})->second;
  }

  const std::vector<Entry>& entries() const { return entries_; }

  // The same with slabs of kCoarser of the present ones, each `slab_ns` long.
  void coarsen(std::int64_t slab_ns, std::size_t& sums) {
    SlabSeries coarse;
    for (const auto& [slab, sum] : entries_) add_coarser(coarse, slab, sum, slab_ns, sums);
    *this = std::move(coarse);
  }

 private:
  typename std::vector<Entry>::iterator find(std::uint32_t slab) {
    if (entries_.empty() || entries_.back().first < slab) return entries_.end();
    if (entries_.back().first == slab) return entries_.end() - 1;
    return std::lower_bound(entries_.begin(), entries_.end(), slab,
                            [](const Entry& entry, std::uint32_t at) { return entry.first < at; });
  }

  std::vector<Entry> entries_;  // by slab
};

// Adds what a fine slab holds to a coarser series. This one is of sums.
template <typename Sum>
void add_coarser(SlabSeries<Sum>& coarse, std::uint32_t slab, const Sum& sum, std::int64_t,
                 std::size_t& sums) {
  coarse.at(slab / kCoarser, sums) += sum;
}

// What begins or ends in a slab; from the slab on, `level` more are in progress for all of it,
// beside what is for a part of it.
struct BusyChange {
  std::int64_t part_ns = 0, level = 0;
  std::uint64_t starts = 0;
};

inline void add_coarser(SlabSeries<BusyChange>& coarse, std::uint32_t slab,
                        const BusyChange& change, std::int64_t slab_ns, std::size_t& sums) {
  const std::uint32_t into = slab / kCoarser;
  const std::int64_t slabs_left = std::int64_t{kCoarser} * (into + 1) - slab;
  BusyChange& sum = coarse.at(into, sums);
  sum.part_ns += change.part_ns + change.level * slabs_left * slab_ns;
  sum.starts += change.starts;
  if (change.level != 0) coarse.at(into + 1, sums).level += change.level;
}

}  // namespace uctrace

// Sums by time slab, mostly added in the order of time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace uctrace {

inline constexpr std::uint32_t kCoarser = 4;  // slabs that become one

// The last used, or latest, sum is kept apart: it is wanted most often, without another memory
// access.
template <typename Sum>
class SlabSeries {
 public:
  // The sum of a slab; increments `sums` if it is new. Valid until the next call.
  Sum& at(std::uint32_t slab, std::size_t& sums) {
    return slab == last_.slab ? last_.sum : other(slab, sums);
  }

  bool empty() const { return last_.slab == kNone; }

  // Calls visit(slab, sum), in the order of time.
  template <typename Visit>
  void each(Visit visit) const {
    for (const Entry& entry : earlier_) visit(entry.slab, entry.sum);
    if (last_.slab != kNone) visit(last_.slab, last_.sum);
  }

  // The same with slabs made from kCoarser of the present ones, each `slab_ns` long.
  void coarsen(std::int64_t slab_ns, std::size_t& sums) {
    SlabSeries coarse;
    each(
        [&](std::uint32_t slab, const Sum& sum) { add_coarser(coarse, slab, sum, slab_ns, sums); });
    *this = std::move(coarse);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Entry {
    std::uint32_t slab = kNone;
    Sum sum{};
  };

  Sum& other(std::uint32_t slab, std::size_t& sums) {
    if (last_.slab == kNone || slab > last_.slab) {
      if (last_.slab != kNone) earlier_.push_back(last_);
      last_ = {slab, {}};
      ++sums;
      return last_.sum;
    }
    const auto place = find(slab);
    if (place != earlier_.end() && place->slab == slab) return place->sum;
    ++sums;
    return earlier_.insert(place, {slab, {}})->sum;
  }
  typename std::vector<Entry>::iterator find(std::uint32_t slab) {
    if (earlier_.empty() || earlier_.back().slab < slab) return earlier_.end();
    if (earlier_.back().slab == slab) return earlier_.end() - 1;
    return std::lower_bound(earlier_.begin(), earlier_.end(), slab,
                            [](const Entry& entry, std::uint32_t at) { return entry.slab < at; });
  }

  Entry last_;
  std::vector<Entry> earlier_;  // by slab
};

// Adds a fine slab to a coarser series. This version is for sums.
template <typename Sum>
void add_coarser(SlabSeries<Sum>& coarse, std::uint32_t slab, const Sum& sum, std::int64_t,
                 std::size_t& sums) {
  coarse.at(slab / kCoarser, sums) += sum;
}

// Changes in a slab: from the next slab on, `level` more are in progress for the whole slab,
// besides partial ones.
struct BusyChange {
  std::int64_t part_ns = 0, level = 0;
  std::uint64_t starts = 0;

  BusyChange& operator+=(const BusyChange& more) {
    part_ns += more.part_ns;
    level += more.level;
    starts += more.starts;
    return *this;
  }
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

#include "placement/partition.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace uctrace::placement {
namespace {

constexpr std::uint32_t kNoPart = UINT32_MAX;

using Weights = std::vector<std::uint64_t>;

Weights weights_of(const Affinity& affinity) {
  Weights weights(affinity.ranks(), 0);
  for (RankNumber rank = 0; rank < affinity.ranks(); ++rank) {
    for (const Tie& tie : affinity.of(rank)) weights[rank] = add_up(weights[rank], tie.weight);
  }
  return weights;
}

// The rank with the strongest tie to one part; the lower rank if equal. A rank whose tie grew is
// offered again, and its older offers are skipped.
class Offers {
 public:
  void offer(std::uint64_t worth, RankNumber rank) { queue_.push({worth, ~rank}); }
  template <typename IsGood>
  bool take(RankNumber& rank, IsGood is_good) {
    while (!queue_.empty()) {
      const auto [worth, inverted] = queue_.top();
      queue_.pop();
      rank = ~inverted;
      if (is_good(rank, worth)) return true;
    }
    return false;
  }

 private:
  std::priority_queue<std::pair<std::uint64_t, RankNumber>> queue_;
};

// Moves ranks from overfull parts to parts with room, the cheapest move first.
void make_fit(const Affinity& affinity, const std::vector<std::uint32_t>& room,
              std::vector<std::uint32_t>& part) {
  std::vector<std::int64_t> left(room.begin(), room.end());
  for (std::uint32_t& of : part) {
    if (of >= room.size()) of = 0;
    --left[of];
  }
  for (;;) {
    const auto full = std::find_if(left.begin(), left.end(), [](auto n) { return n < 0; });
    if (full == left.end()) return;
    const auto from = static_cast<std::uint32_t>(full - left.begin());
    RankNumber best_rank = 0;
    std::uint32_t best_part = kNoPart;
    __int128 best = 0;
    Weights to_part(room.size());
    for (RankNumber rank = 0; rank < part.size(); ++rank) {
      if (part[rank] != from) continue;
      std::fill(to_part.begin(), to_part.end(), 0);
      for (const Tie& tie : affinity.of(rank)) {
        to_part[part[tie.with]] = add_up(to_part[part[tie.with]], tie.weight);
      }
      for (std::uint32_t to = 0; to < room.size(); ++to) {
        if (left[to] <= 0) continue;
        const __int128 gain = static_cast<__int128>(to_part[to]) - to_part[from];
        if (best_part == kNoPart || gain > best) {
          std::tie(best_rank, best_part, best) = std::tuple(rank, to, gain);
        }
      }
    }
    if (best_part == kNoPart)
      return;  // no room anywhere: callers promise that this does not
               // happen
    part[best_rank] = best_part;
    ++left[from];
    --left[best_part];
  }
}

// Slots of a machine as parts: the machine by node, a node by package.
struct Parts {
  std::vector<std::vector<std::uint32_t>> slots;

  std::vector<std::uint32_t> room() const {
    std::vector<std::uint32_t> room;
    for (const auto& part : slots) room.push_back(static_cast<std::uint32_t>(part.size()));
    return room;
  }
};

// The ranks of a part are adjacent.
template <typename PartOf>
Parts parts_of(const std::vector<std::uint32_t>& slots, PartOf part_of) {
  Parts parts;
  std::uint32_t last = kNoPart;
  for (const std::uint32_t slot : slots) {
    if (parts.slots.empty() || part_of(slot) != last) parts.slots.emplace_back();
    last = part_of(slot);
    parts.slots.back().push_back(slot);
  }
  return parts;
}

class Splitter {
 public:
  Splitter(const Affinity& affinity, const Machine& machine, const Partitioner& partitioner)
      : affinity_(affinity), machine_(machine), partitioner_(partitioner) {}

  Placement split() {
    placement_.resize(affinity_.ranks());
    std::vector<RankNumber> ranks(affinity_.ranks());
    std::iota(ranks.begin(), ranks.end(), 0);
    std::vector<std::uint32_t> slots(machine_.slots.size());
    std::iota(slots.begin(), slots.end(), 0);
    share(ranks, parts_of(slots, [&](auto slot) { return machine_.slots[slot].node; }), true);
    return std::move(placement_);
  }

 private:
  void share(const std::vector<RankNumber>& ranks, const Parts& parts, bool of_nodes) {
    const std::vector<std::uint32_t> room = parts.room();
    std::vector<std::uint32_t> part(ranks.size(), 0);
    if (parts.slots.size() > 1 && !ranks.empty()) {
      const Affinity own = affinity_.among(ranks);
      part = partitioner_(own, room);
      part.resize(ranks.size(), 0);
      make_fit(own, room, part);
    }
    std::vector<std::vector<RankNumber>> members(parts.slots.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) members[part[i]].push_back(ranks[i]);
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (of_nodes) {
        share(members[i],
              parts_of(parts.slots[i], [&](auto slot) { return machine_.slots[slot].package; }),
              false);
      } else {
        for (std::size_t k = 0; k < members[i].size(); ++k) {
          placement_[members[i][k]] = parts.slots[i][k];
        }
      }
    }
  }

  const Affinity& affinity_;
  const Machine& machine_;
  const Partitioner& partitioner_;
  Placement placement_;
};

}  // namespace

std::vector<std::uint32_t> grow_parts(const Affinity& affinity,
                                      const std::vector<std::uint32_t>& room) {
  const std::size_t ranks = affinity.ranks();
  std::vector<std::uint32_t> part(ranks, kNoPart);
  // The first rank of a part: the one with the strongest ties overall.
  Offers first;
  const Weights weights = weights_of(affinity);
  for (RankNumber rank = 0; rank < ranks; ++rank) first.offer(weights[rank], rank);
  std::vector<std::uint32_t> order(room.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return room[a] > room[b]; });
  Weights worth(ranks, 0);
  for (const std::uint32_t to : order) {
    Offers next;
    std::fill(worth.begin(), worth.end(), 0);
    for (std::uint32_t i = 0; i < room[to]; ++i) {
      RankNumber rank = 0;
      const bool tied = next.take(rank, [&](RankNumber offered, std::uint64_t value) {
        return part[offered] == kNoPart && value == worth[offered];
      });
      const auto is_free = [&](RankNumber offered, std::uint64_t) {
        return part[offered] == kNoPart;
      };
      if (!tied && !first.take(rank, is_free)) return part;
      part[rank] = to;
      for (const Tie& tie : affinity.of(rank)) {
        if (part[tie.with] != kNoPart) continue;
        worth[tie.with] = add_up(worth[tie.with], tie.weight);
        next.offer(worth[tie.with], tie.with);
      }
    }
  }
  return part;
}

Placement split_up(const Affinity& affinity, const Machine& machine,
                   const Partitioner& partitioner) {
  return Splitter(affinity, machine, partitioner).split();
}

}  // namespace uctrace::placement

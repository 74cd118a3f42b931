#include "placement/improve.hpp"

#include <algorithm>
#include <vector>

namespace uctrace::placement {
namespace {

constexpr RankNumber kNobody = UINT32_MAX;
// Up to this many slots are all tried; of more, only those on the nodes of a rank's partners.
constexpr std::size_t kFewSlots = 256;

using Change = __int128;

class Descent {
 public:
  Descent(const Affinity& affinity, const Machine& machine, Placement placement,
          std::uint64_t most_steps)
      : affinity_(affinity),
        machine_(machine),
        at_(std::move(placement)),
        who_(machine.slots.size(), kNobody),
        most_steps_(most_steps) {
    for (RankNumber rank = 0; rank < at_.size(); ++rank) who_[at_[rank]] = rank;
    for (std::uint32_t slot = 0; slot < machine.slots.size(); ++slot) {
      const std::uint32_t node = machine.slots[slot].node;
      if (slots_of_node_.size() <= node) slots_of_node_.resize(node + 1);
      slots_of_node_[node].push_back(slot);
    }
  }

  Placement go_down() {
    bool better = true;
    while (better && steps_ < most_steps_) {
      better = false;
      for (RankNumber rank = 0; rank < at_.size() && steps_ < most_steps_; ++rank) {
        better |= move_to_best(rank);
      }
    }
    return std::move(at_);
  }

 private:
  bool move_to_best(RankNumber rank) {
    find_candidates(rank);
    Change best = 0;
    std::uint32_t best_slot = at_[rank];
    for (const std::uint32_t slot : candidates_) {
      if (slot == at_[rank]) continue;
      const Change change = change_by(rank, slot);
      if (change < best) {
        best = change;
        best_slot = slot;
      }
    }
    if (best_slot == at_[rank]) return false;
    const RankNumber other = who_[best_slot];
    std::swap(who_[at_[rank]], who_[best_slot]);
    if (other != kNobody) at_[other] = at_[rank];
    at_[rank] = best_slot;
    return true;
  }

  void find_candidates(RankNumber rank) {
    candidates_.clear();
    if (who_.size() <= kFewSlots) {
      for (std::uint32_t slot = 0; slot < who_.size(); ++slot) candidates_.push_back(slot);
      return;
    }
    nodes_.clear();
    for (const Tie& tie : affinity_.of(rank)) nodes_.push_back(machine_.slots[at_[tie.with]].node);
    std::sort(nodes_.begin(), nodes_.end());
    nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
    for (const std::uint32_t node : nodes_) {
      candidates_.insert(candidates_.end(), slots_of_node_[node].begin(),
                         slots_of_node_[node].end());
    }
  }

  // By how much the cost rises if the rank and the occupant of the slot change places.
  Change change_by(RankNumber rank, std::uint32_t slot) {
    const RankNumber other = who_[slot];
    Change change = of_going(rank, slot, other);
    if (other != kNobody) change += of_going(other, at_[rank], rank);
    return change;
  }

  // The tie between these two stays the same.
  Change of_going(RankNumber rank, std::uint32_t slot, RankNumber but) {
    Change change = 0;
    for (const Tie& tie : affinity_.of(rank)) {
      if (tie.with == but) continue;
      const std::uint32_t there = at_[tie.with];
      change += static_cast<Change>(tie.weight) *
                (static_cast<std::int64_t>(machine_.distance(slot, there)) -
                 static_cast<std::int64_t>(machine_.distance(at_[rank], there)));
    }
    steps_ += affinity_.of(rank).size() + 1;
    return change;
  }

  const Affinity& affinity_;
  const Machine& machine_;
  Placement at_;                 // slot of each rank
  std::vector<RankNumber> who_;  // rank of each slot
  std::vector<std::vector<std::uint32_t>> slots_of_node_;
  std::vector<std::uint32_t> candidates_, nodes_;
  std::uint64_t most_steps_, steps_ = 0;
};

}  // namespace

Placement improved(const Affinity& affinity, const Machine& machine, Placement placement,
                   std::uint64_t most_steps) {
  return Descent(affinity, machine, std::move(placement), most_steps).go_down();
}

}  // namespace uctrace::placement

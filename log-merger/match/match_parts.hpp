// Sends and receives of one kind in a job of which events are missing by the user's wish: which of
// them can be laid beside each other, part by part. Private to the matching.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/match/pairing.hpp"
#include "log-merger/match/quiescence.hpp"

namespace uctrace::merge {

// What could be one another's send and receive.
struct Group {
  std::vector<HalfMessage> sends, receives;    // in posting order
  std::vector<const OutsideReceive*> outside;  // receives, of which the logs hold the ends only
};

// The k-th send is the one that the k-th receive took, as far as `match` says.
struct Pairs {
  std::vector<HalfMessage> sends, receives;  // as many
  Match match = Match::exact;                // at best
  bool may_lack_receives = false;  // one posted in between may end where nothing was recorded
};

// What was found of an operation; of several that of one the last holds.
struct Outcome {
  UcpIndex op;
  Match match = Match::unmatched;
  UcpIndex partner = kNone;           // kNone: none was found
  ProcessIndex peer_process = kNone;  // of a receive that has one
};

// What took messages, in posting order; nullptr: what only its end is known of.
using Takers = std::vector<const HalfMessage*>;

// Each outside receive in turn in front of the first other one that has a greater id, else at the
// end. Time: n log n. `less` compares two ids.
template <typename Less = std::less<>>
Takers takers_of(const Group& group, Less less = {}) {
  // The first with a greater id is the first up to which the greatest one is greater.
  std::vector<log::Id> greatest;
  for (const HalfMessage& receive : group.receives) {
    greatest.push_back(greatest.empty() ? receive.id : std::max(greatest.back(), receive.id, less));
  }
  std::vector<std::size_t> outside_before(group.receives.size() + 1);
  for (const OutsideReceive* outside : group.outside) {
    const auto later = std::upper_bound(greatest.begin(), greatest.end(), outside->operation, less);
    ++outside_before[static_cast<std::size_t>(later - greatest.begin())];
  }
  Takers takers;
  for (std::size_t i = 0; i < outside_before.size(); ++i) {
    takers.insert(takers.end(), outside_before[i], nullptr);
    if (i < group.receives.size()) takers.push_back(&group.receives[i]);
  }
  return takers;
}

// As far as both are known.
bool lengths_agree(const HalfMessage& send, const HalfMessage& receive);

// Also says, into `outcomes`, of each operation that has no partner whether that is because of what
// is missing.
std::vector<Pairs> lay_side_by_side(const Job& job, const Group& group,
                                    const std::vector<WholePart>& parts,
                                    std::vector<Outcome>& outcomes);

}  // namespace uctrace::merge

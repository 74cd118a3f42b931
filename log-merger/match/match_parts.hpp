// For jobs with events missing by the user's choice: which sends and receives of one kind can be
// paired by counting, part by part. Private to the matching.
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

// Possible partners.
struct Group {
  std::vector<HalfMessage> sends, receives;    // in posting order
  std::vector<const OutsideReceive*> outside;  // receives of which the logs have only the ends
};

// The k-th receive took the k-th send, with the certainty of `match`.
struct Pairs {
  std::vector<HalfMessage> sends, receives;  // as many
  Match match = Match::exact;                // at best
  bool may_lack_receives = false;  // one posted in between may have ended outside the windows
};

// The result for an operation; the last one counts.
struct Outcome {
  UcpIndex op;
  Match match = Match::unmatched;
  UcpIndex partner = kNone;           // kNone: none was found
  ProcessIndex peer_process = kNone;  // for a receive with a partner
};

// Receives in posting order; nullptr: one of which only the end is known.
using Takers = std::vector<const HalfMessage*>;

// Inserts each outside receive before the first other one with a larger id, else at the end. Time:
// n log n. `less` compares two ids.
template <typename Less = std::less<>>
Takers takers_of(const Group& group, Less less = {}) {
  // The first with a larger id is the first whose running maximum is larger.
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

// For each operation without a partner, `outcomes` also says whether missing events are the reason.
std::vector<Pairs> lay_side_by_side(const Job& job, const Group& group,
                                    const std::vector<WholePart>& parts,
                                    std::vector<Outcome>& outcomes);

}  // namespace uctrace::merge

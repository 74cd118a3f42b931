// From where pairs are counted:
//   * between two instants at which nothing was on its way, what was sent is what was received:
//   from
//     either end, if there are as many of both. exact
//   * from such an instant, or the beginning of the run, if everything after, or everything before,
//     is recorded: otherwise an unrecorded receive may have taken the first. exact
//   * backward from such an instant: messages sent last before it were received last before it.
//     exact
//   * else from the first of both, with the smallest shift that makes lengths and times agree: if
//     no other shift agrees, inferred
#include "log-merger/match/match_parts.hpp"

#include <algorithm>
#include <map>

namespace uctrace::merge {

namespace {

constexpr std::size_t kMostMoved = 64;  // messages that may be on their way when a window opens

// Whether ids tell the place of the outside receives among the others: ids of a lane grow in
// posting order.
bool is_in_one_lane(const Group& group) {
  if (group.receives.empty() || group.outside.empty()) return true;
  const auto lane = log::lane_of(group.receives.front().id);
  return std::all_of(group.receives.begin(), group.receives.end(),
                     [&](const HalfMessage& half) { return log::lane_of(half.id) == lane; }) &&
         std::all_of(group.outside.begin(), group.outside.end(),
                     [&](const OutsideReceive* outside) {
                       return log::lane_of(outside->operation) == lane;
                     });
}

class PartMatcher {
 public:
  PartMatcher(const Job& job, const Group& in_part, const WholePart& part,
              std::vector<Outcome>& outcomes)
      : job_(job),
        part_(part),
        sends_(in_part.sends),
        takers_(takers_of(in_part)),
        outcomes_(outcomes),
        ordered_(is_in_one_lane(in_part)) {}

  Pairs pairs() {
    const bool whole_before = part_.begin_ns == INT64_MIN, whole_after = part_.end_ns == INT64_MAX;
    if (part_.quiescent_before && part_.quiescent_after) {
      join(0, 0, sends_.size() == takers_.size() ? Match::exact : Match::ambiguous);
    } else if (part_.quiescent_before) {
      join(0, 0, whole_before || whole_after ? Match::exact : Match::inferred);
      pairs_.may_lack_receives = !whole_after || sends_.size() > takers_.size();
    } else if (part_.quiescent_after) {
      const std::size_t s = sends_.size(), t = takers_.size();
      join(s > t ? s - t : 0, t > s ? t - s : 0, Match::exact);
    } else {
      join_by_content();
    }
    if (!ordered_ && pairs_.match != Match::ambiguous) {
      pairs_.match = Match::ambiguous;
    }
    mark_partnerless(whole_after);
    return std::move(pairs_);
  }

 private:
  void join(std::size_t send, std::size_t taker, Match match) {
    pairs_.match = match;
    for (; send < sends_.size() && taker < takers_.size(); ++send, ++taker) {
      if (takers_[taker] != nullptr) {
        pairs_.sends.push_back(sends_[send]);
        pairs_.receives.push_back(*takers_[taker]);
      }
    }
  }

  bool agree(const HalfMessage& send, const HalfMessage* taker) const {
    if (taker == nullptr) return true;
    const HalfMessage& receive = *taker;
    const std::int64_t taken = receive.taken_ns;
    // Times of clocks related only by wall clocks cannot be compared.
    const auto margin =
        taken < 0 ? std::nullopt
                  : clock_margin_ns(job_, send.process, send.start_ns, receive.process, taken);
    return (!margin || send.start_ns - *margin <= taken) && lengths_agree(send, receive);
  }

  bool agree_from(std::size_t send, std::size_t taker) const {
    for (; send < sends_.size() && taker < takers_.size(); ++send, ++taker) {
      if (!agree(sends_[send], takers_[taker])) {
        return false;
      }
    }
    return true;
  }

  struct Move {
    std::size_t sends = 0, takers = 0;  // that are skipped
  };

  std::size_t pairs_of(Move move) const {
    return std::min(sends_.size() - std::min(sends_.size(), move.sends),
                    takers_.size() - std::min(takers_.size(), move.takers));
  }

  // The smallest shift that agrees. It is a guess if another shift with nearly as many pairs
  // agrees, too.
  void join_by_content() {
    std::vector<Move> agreeing;
    for (std::size_t moved = 0; moved < kMostMoved && agreeing.size() < 2; ++moved) {
      for (const Move move : {Move{0, moved}, Move{moved, 0}}) {
        const std::size_t pairs = pairs_of(move);
        const bool comparable = agreeing.empty() || 2 * pairs >= pairs_of(agreeing.front());
        const bool fresh = moved != 0 || agreeing.empty();
        if (pairs > 0 && comparable && fresh && agree_from(move.sends, move.takers)) {
          agreeing.push_back(move);
        }
      }
    }
    const Move move = agreeing.empty() ? Move{} : agreeing.front();
    pairs_.may_lack_receives = true;
    join(move.sends, move.takers, agreeing.size() == 1 ? Match::inferred : Match::ambiguous);
  }

  // If nothing is missing from a quiescent instant on, operations without a partner have none in
  // the run.
  void mark_partnerless(bool whole_after) {
    if (part_.quiescent_before && whole_after) {
      for (std::size_t i = takers_.size(); i < sends_.size(); ++i) {
        outcomes_.push_back({sends_[i].op, Match::unmatched});
      }
    }
    if (part_.quiescent_before && (whole_after || part_.quiescent_after)) {
      for (std::size_t i = sends_.size(); i < takers_.size(); ++i) {
        if (takers_[i] != nullptr) outcomes_.push_back({takers_[i]->op, Match::unmatched});
      }
    }
  }

  const Job& job_;
  const WholePart& part_;
  const std::vector<HalfMessage>& sends_;
  const Takers takers_;
  std::vector<Outcome>& outcomes_;
  const bool ordered_;
  Pairs pairs_;
};

}  // namespace

bool lengths_agree(const HalfMessage& send, const HalfMessage& receive) {
  return send.any_length || receive.any_length || send.bytes == receive.bytes;
}

std::vector<Pairs> lay_side_by_side(const Job& job, const Group& group,
                                    const std::vector<WholePart>& parts,
                                    std::vector<Outcome>& outcomes) {
  std::map<std::size_t, Group> in_part;
  const auto part_at = [&](std::int64_t at_ns) -> Group* {
    const auto part = std::partition_point(parts.begin(), parts.end(),
                                           [&](const WholePart& p) { return p.end_ns <= at_ns; });
    return part != parts.end() && part->holds(at_ns)
               ? &in_part[static_cast<std::size_t>(part - parts.begin())]
               : nullptr;
  };
  for (const HalfMessage& send : group.sends) {
    outcomes.push_back({send.op, Match::outside_window});
    if (Group* of_part = part_at(send.start_ns)) of_part->sends.push_back(send);
  }
  for (const HalfMessage& receive : group.receives) {
    outcomes.push_back({receive.op, Match::outside_window});
    if (Group* of_part = part_at(receive.taken_ns)) of_part->receives.push_back(receive);
  }
  for (const OutsideReceive* outside : group.outside) {
    if (Group* of_part = part_at(outside->end_ns)) of_part->outside.push_back(outside);
  }
  std::vector<Pairs> all;
  for (const auto& [part, members] : in_part) {
    all.push_back(PartMatcher(job, members, parts[part], outcomes).pairs());
  }
  return all;
}

}  // namespace uctrace::merge

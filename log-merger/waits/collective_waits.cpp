// Who waits in operations of many processes, and until when: docs/waits.md has the rules.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "log-merger/waits/collectives.hpp"

namespace uctrace::merge {

namespace {

WaitKind kind_of_wait(CallRole role) {
  switch (role) {
    case CallRole::barrier:
      return WaitKind::wait_barrier;
    case CallRole::from_root:
      return WaitKind::late_broadcast;
    case CallRole::to_root:
      return WaitKind::early_reduce;
    case CallRole::from_lower_ranks:
      return WaitKind::early_scan;
    case CallRole::makes_window:
    case CallRole::frees_window:
      return WaitKind::rma_wait_at_create;
    case CallRole::fence:
      return WaitKind::rma_wait_at_fence;
    case CallRole::end_of_mpi:
      return WaitKind::wait_finalize;
    default:
      return WaitKind::wait_nxn;
  }
}

std::optional<WaitKind> kind_of_completion(CallRole role) {
  if (role == CallRole::barrier) return WaitKind::barrier_completion;
  if (role == CallRole::all_with_all) return WaitKind::nxn_completion;
  return std::nullopt;
}

}  // namespace

CallIndex Collectives::later(CallIndex a, CallIndex b) const {
  if (a == kNone || b == kNone) return a == kNone ? b : a;
  return call(b).start_ns > call(a).start_ns ? b : a;
}

std::uint8_t Collectives::side_at(const CollectiveOperation& operation, std::size_t place) const {
  const MpiCall& c = call(operation.told_by(place));
  return job_.logs[c.process].comms[c.comm].side == 0 ? 0 : 1;
}

// By its own arguments, whatever the others did.
bool Collectives::never_waits(const CollectiveOperation& operation, std::size_t place) const {
  const std::int32_t root = call(operation.told_by(place)).peer;
  const auto rank = static_cast<std::int64_t>(operation.rank_at(job_, place));
  const bool is_root = operation.inter ? root == log::MpiCall::kRoot : rank == root;
  switch (operation.role) {
    case CallRole::from_root:
      return is_root || root == log::MpiCall::kNull;
    case CallRole::to_root:
      return !is_root;
    case CallRole::from_lower_ranks:
      return rank == 0;
    default:
      return false;
  }
}

// By MPI's rules, if it enters later. In operations without a rule, any other.
bool Collectives::may_wait_for(const CollectiveOperation& operation, std::size_t place,
                               std::size_t other) const {
  if (other == place || never_waits(operation, place)) return false;
  if (operation.role == CallRole::from_root) return operation.calls[other] == operation.root;
  if (operation.role == CallRole::from_lower_ranks) {
    return operation.rank_at(job_, other) < operation.rank_at(job_, place);
  }
  return !operation.inter || side_at(operation, other) != side_at(operation, place);
}

// The call that decides by MPI's rules until when a process of the operation waits, kNone where it
// does not.
CallIndex Collectives::late_for(const CollectiveOperation& operation, std::size_t place) const {
  const CallIndex own = operation.calls[place];
  const auto last_of = [&](auto&& is_meant) {
    CallIndex last;
    for (std::size_t other = 0; other < operation.calls.size(); ++other) {
      if (other != place && is_meant(other)) last = later(last, operation.calls[other]);
    }
    return last;
  };
  const auto last_of_others = [&] {
    if (operation.inter) return operation.last_of_side[1 - side_at(operation, place)];
    return last_of([](std::size_t) { return true; });
  };
  if (never_waits(operation, place)) return {};
  switch (operation.role) {
    case CallRole::from_root:
      return operation.root;
    case CallRole::to_root:
      return last_of_others();
    case CallRole::from_lower_ranks:
      return last_of([&](std::size_t other) {
        return operation.rank_at(job_, other) < operation.rank_at(job_, place);
      });
    case CallRole::barrier:
    case CallRole::all_with_all:
      if (operation.inter) return last_of_others();
      [[fallthrough]];
    case CallRole::makes_window:
    case CallRole::frees_window:
    case CallRole::fence:
    case CallRole::end_of_mpi:
      return operation.last == own ? CallIndex() : operation.last;
    default:
      return {};
  }
}

// The same for all of them at once: a scan of n processes has n * n pairs.
std::vector<CallIndex> Collectives::late_of_scan(const CollectiveOperation& operation) const {
  std::vector<std::size_t> by_rank(operation.calls.size());
  for (std::size_t place = 0; place < by_rank.size(); ++place) by_rank[place] = place;
  std::sort(by_rank.begin(), by_rank.end(), [&](std::size_t a, std::size_t b) {
    return operation.rank_at(job_, a) < operation.rank_at(job_, b);
  });
  std::vector<CallIndex> late(operation.calls.size());
  CallIndex last;
  for (const std::size_t place : by_rank) {
    late[place] = last;
    last = later(last, operation.calls[place]);
  }
  return late;
}

// Somebody else who entered while the process was in the call: until the last of these it may have
// waited.
std::optional<Awaited> Collectives::may_have_waited(const WaitMaker& maker, WaitKind kind,
                                                    CallIndex waiting,
                                                    const CollectiveOperation& operation,
                                                    std::size_t place) const {
  const auto times = maker.times(waiting);
  if (!times) return std::nullopt;
  const std::vector<CallIndex>& all = operation.by_entry;
  const auto farthest_ns = times->left_ns + 2 * std::llround(std::ceil(job_.clock_error_ns));
  auto one = std::partition_point(
      all.begin(), all.end(), [&](CallIndex index) { return call(index).start_ns <= farthest_ns; });
  std::optional<Awaited> longest;
  while (one != all.begin()) {
    const CallIndex other = *--one;
    if (other == operation.calls[place]) continue;
    const std::int64_t entered_ns = call(other).start_ns;
    const Awaited by = maker.awaited(kind, waiting, call(other).process, other, entered_ns);
    const bool comparable = by.wait.unknown == WaitUnknown::none;
    if (comparable && entered_ns + by.margin_ns <= times->entered_ns) break;
    if (comparable && entered_ns - by.margin_ns > times->left_ns) continue;
    longest = maker.unknown(kind, waiting, comparable ? WaitUnknown::partner : WaitUnknown::clocks);
    longest->until_ns = comparable ? std::min(entered_ns, times->left_ns) : times->left_ns;
    break;
  }
  return longest;
}

// Where some clocks cannot be compared: who was last of the others is known of those alone that
// have the clock of this one, and any other may have been later.
std::vector<Awaited> Collectives::awaited_across_clocks(const WaitMaker& maker, WaitKind kind,
                                                        CallIndex waiting,
                                                        const CollectiveOperation& operation,
                                                        std::size_t place) const {
  const ProcessIndex own = call(operation.calls[place]).process;
  const bool has_rule = !has_no_rule(operation.role) && !may_not_synchronise(operation.role);
  CallIndex late;
  bool is_known = true, may_wait = false;
  for (std::size_t other = 0; other < operation.calls.size(); ++other) {
    if (!may_wait_for(operation, place, other)) continue;
    may_wait = true;
    const bool is_comparable = are_comparable(job_, own, call(operation.calls[other]).process);
    if (is_comparable && has_rule) late = later(late, operation.calls[other]);
    is_known = is_known && is_comparable && has_rule;
  }
  const CallIndex proven = proven_.latest(operation.calls[place]);
  if (proven != kNone && are_comparable(job_, own, call(proven).process)) {
    late = later(late, proven);
  }
  std::vector<Awaited> awaited;
  if (late != kNone) {
    awaited.push_back(maker.awaited(kind, waiting, call(late).process, late, call(late).start_ns));
  }
  if (may_wait && !is_known) awaited.push_back(maker.unknown(kind, waiting, WaitUnknown::clocks));
  return awaited;
}

// `late`: by the rules.
std::vector<Awaited> Collectives::awaited_in(const WaitMaker& maker, WaitKind kind,
                                             CallIndex waiting,
                                             const CollectiveOperation& operation,
                                             std::size_t place, CallIndex late) const {
  if (operation.complete && !operation.one_time) {
    return awaited_across_clocks(maker, kind, waiting, operation, place);
  }
  const CallIndex own = operation.calls[place];
  const bool ruleless = has_no_rule(operation.role);
  if (ruleless || operation.inter) late = later(late, proven_.latest(own));
  std::vector<Awaited> awaited;
  if (late != kNone) {
    awaited.push_back(maker.awaited(kind, waiting, call(late).process, late, call(late).start_ns));
  }
  if (!operation.complete) {
    if (!never_waits(operation, place)) {
      awaited.push_back(maker.unknown(kind, waiting, WaitUnknown::members));
    }
  } else if (ruleless) {
    const auto unproven = may_have_waited(maker, kind, waiting, operation, place);
    if (unproven) awaited.push_back(*unproven);
  }
  return awaited;
}

void Collectives::find_waits_of(const WaitMaker& maker, const CollectiveOperation& operation,
                                std::vector<Wait>& rows) const {
  if (operation.role == CallRole::other) return;
  const bool scans = operation.complete && operation.role == CallRole::from_lower_ranks;
  const std::vector<CallIndex> of_scan = scans ? late_of_scan(operation) : std::vector<CallIndex>();
  for (std::size_t place = 0; place < operation.calls.size(); ++place) {
    const CallIndex index = operation.calls[place];
    const WaitKind kind = kind_of_wait(operation.role);
    const CallIndex late = scans                ? of_scan[place]
                           : operation.complete ? late_for(operation, place)
                                                : CallIndex();
    maker.add(index, awaited_in(maker, kind, index, operation, place, late), rows);
    const auto completion = kind_of_completion(operation.role);
    if (operation.complete && operation.one_time && completion) {
      maker.add_completion(*completion, index, operation.last, operation.first_left, rows);
    }
  }
}

void Collectives::find_waits(const WaitMaker& maker, std::vector<Wait>& rows) const {
  for (const CollectiveOperation& operation : operations_) {
    if (!operation.begins) find_waits_of(maker, operation, rows);
  }
}

std::vector<Awaited> Collectives::awaited(const WaitMaker& maker, CallIndex waiting,
                                          EntryOfCall begun) const {
  constexpr WaitKind kKind = WaitKind::nonblocking_collective;
  if (processes_of(call(begun.told_by)) == 1) return {};
  const CollectiveOperation* operation = begun_by(begun);
  if (operation == nullptr) return {maker.unknown(kKind, waiting, WaitUnknown::members)};
  if (operation->role == CallRole::other) return {};
  const auto place = operation->place_of(job_, call(begun.entered).process);
  const CallIndex late = operation->complete ? late_for(*operation, *place) : CallIndex();
  return awaited_in(maker, kKind, waiting, *operation, *place, late);
}

std::vector<Awaited> Collectives::awaited_alone(const WaitMaker& maker, CallIndex index,
                                                CallRole role) const {
  const WaitKind kind = kind_of_wait(role);
  std::vector<Awaited> awaited;
  if (const CallIndex late = proven_.latest(index); late != kNone) {
    awaited.push_back(maker.awaited(kind, index, call(late).process, late, call(late).start_ns));
  }
  awaited.push_back(maker.unknown(kind, index, WaitUnknown::partner));
  return awaited;
}

}  // namespace uctrace::merge

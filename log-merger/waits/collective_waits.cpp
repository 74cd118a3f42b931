// Which processes wait in operations of many processes, and until when: docs/waits.md has the
// rules.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

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

// For operations whose name does not tell the dependencies, or whose clocks cannot be compared.
bool is_ruleless(const CollectiveOperation& operation) {
  return has_no_rule(operation.role) || may_not_synchronise(operation.role);
}

struct LastTwo {
  CallIndex last_but(CallIndex own) const { return last == own ? before : last; }

  CallIndex last, before;
  std::size_t count = 0;
};

}  // namespace

CallIndex Collectives::later(CallIndex a, CallIndex b) const {
  if (a == kNone || b == kNone) return a == kNone ? b : a;
  return call(b).start_ns > call(a).start_ns ? b : a;
}

std::uint8_t Collectives::side_at(const CollectiveOperation& operation, std::size_t place) const {
  const MpiCall& c = call(operation.told_by(place));
  return job_.logs[c.process].comms[c.comm].side == 0 ? 0 : 1;
}

// By its own arguments, independent of the others.
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

// The call that, by MPI's rules, ends the wait of a process of the operation; kNone if it does not
// wait.
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

std::vector<std::size_t> Collectives::places_by_rank(const CollectiveOperation& operation) const {
  std::vector<std::size_t> by_rank(operation.calls.size());
  for (std::size_t place = 0; place < by_rank.size(); ++place) by_rank[place] = place;
  std::sort(by_rank.begin(), by_rank.end(), [&](std::size_t a, std::size_t b) {
    return operation.rank_at(job_, a) < operation.rank_at(job_, b);
  });
  return by_rank;
}

// The same for all of them at once: a scan of n processes has n * n pairs.
std::vector<CallIndex> Collectives::late_of_scan(const CollectiveOperation& operation) const {
  std::vector<CallIndex> late(operation.calls.size());
  CallIndex last;
  for (const std::size_t place : places_by_rank(operation)) {
    late[place] = last;
    last = later(last, operation.calls[place]);
  }
  return late;
}

// Others that entered while the process was in the call: it may have waited until the last of
// these.
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

// Computed once per operation for all its processes: there may be many.
std::vector<CollectiveOperation::Comparable> Collectives::across_clocks(
    const CollectiveOperation& operation) const {
  const std::size_t members = operation.calls.size();
  std::vector<CollectiveOperation::Comparable> across(members);
  if (is_ruleless(operation)) {
    for (auto& one : across) one.are_all = false;
    return across;
  }
  const auto side_of = [&](std::size_t place) {
    return static_cast<std::size_t>(operation.inter ? side_at(operation, place) : 0);
  };
  const auto clock_of = [&](std::size_t place) {
    return clock_class(job_, call(operation.calls[place]).process);
  };
  // The candidates, by side and clock.
  std::map<std::pair<std::size_t, std::size_t>, LastTwo> entered;
  std::size_t of_side[2] = {};
  const auto enters = [&](std::size_t place) {
    const CallIndex index = operation.calls[place];
    LastTwo& of_clock = entered[{side_of(place), clock_of(place)}];
    ++of_clock.count;
    ++of_side[side_of(place)];
    if (later(of_clock.last, index) == index) {
      of_clock.before = std::exchange(of_clock.last, index);
    } else {
      of_clock.before = later(of_clock.before, index);
    }
  };
  const auto waits = [&](std::size_t place) {
    const std::size_t side = operation.inter ? 1 - side_of(place) : 0;
    const LastTwo& of_clock = entered[{side, clock_of(place)}];
    across[place] = {of_clock.last_but(operation.calls[place]), of_clock.count == of_side[side]};
  };
  const bool scans = operation.role == CallRole::from_lower_ranks;
  for (const std::size_t place : places_by_rank(operation)) {
    if (scans) waits(place);
    const bool is_awaited =
        operation.role != CallRole::from_root || operation.calls[place] == operation.root;
    if (is_awaited) enters(place);
  }
  for (std::size_t place = 0; place < members && !scans; ++place) waits(place);
  return across;
}

// If some clocks cannot be compared, any of those processes may have been later than the known
// ones.
std::vector<Awaited> Collectives::awaited_across_clocks(const WaitMaker& maker, WaitKind kind,
                                                        CallIndex waiting,
                                                        const CollectiveOperation& operation,
                                                        std::size_t place) const {
  if (never_waits(operation, place)) return {};
  const CallIndex own = operation.calls[place];
  auto [late, are_all] = operation.across[place];
  const CallIndex proven = proven_.latest(own);
  if (proven != kNone && are_comparable(job_, call(own).process, call(proven).process)) {
    late = later(late, proven);
  }
  std::vector<Awaited> awaited;
  if (late != kNone) {
    awaited.push_back(maker.awaited(kind, waiting, call(late).process, late, call(late).start_ns));
  }
  const WaitUnknown why = is_ruleless(operation) ? WaitUnknown::partner : WaitUnknown::clocks;
  if (!are_all) awaited.push_back(maker.unknown(kind, waiting, why));
  return awaited;
}

// `late`: by the rules.
std::vector<Awaited> Collectives::awaited_in(const WaitMaker& maker, WaitKind kind,
                                             CallIndex waiting,
                                             const CollectiveOperation& operation,
                                             std::size_t place, CallIndex late) const {
  if (operation.complete && !operation.one_time()) {
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
  const bool has_last = operation.complete && operation.one_time();
  const bool scans = has_last && operation.role == CallRole::from_lower_ranks;
  const std::vector<CallIndex> of_scan = scans ? late_of_scan(operation) : std::vector<CallIndex>();
  for (std::size_t place = 0; place < operation.calls.size(); ++place) {
    const CallIndex index = operation.calls[place];
    const WaitKind kind = kind_of_wait(operation.role);
    const CallIndex late = scans      ? of_scan[place]
                           : has_last ? late_for(operation, place)
                                      : CallIndex();
    maker.add(index, awaited_in(maker, kind, index, operation, place, late), rows);
    const auto completion = kind_of_completion(operation.role);
    if (has_last && completion) {
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
  const bool has_last = operation->complete && operation->one_time();
  const CallIndex late = has_last ? late_for(*operation, *place) : CallIndex();
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

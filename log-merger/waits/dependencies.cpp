#include "log-merger/waits/dependencies.hpp"

#include <algorithm>
#include <utility>

namespace uctrace::merge {

namespace {

class DependencyRows {
 public:
  DependencyRows(const Job& job, std::vector<CallDependency> of_calls)
      : job_(job), rows_(std::move(of_calls)) {}

  void add(const CollectiveOperation& operation) {
    if (!operation.complete || operation.inter) return;
    // Some may return early, which cannot be seen across clocks.
    if (may_not_synchronise(operation.role) && !operation.one_time()) return;
    switch (operation.role) {
      case CallRole::barrier:
      case CallRole::all_with_all:
      case CallRole::makes_window:
      case CallRole::frees_window:
      case CallRole::fence:
        for (const CallIndex own : operation.calls) {
          add(DependencyKind::operation, operation, own, kNone);
          rows_.back().operation = operations_;
        }
        ++operations_;
        break;
      case CallRole::from_root:
      case CallRole::to_root:
        add_root(operation);
        break;
      case CallRole::from_lower_ranks:
        add_scan(operation);
        break;
      default:
        break;
    }
  }

  // Dependencies proven by messages (proven_entries.hpp): the calls that they came from, and the
  // last of those that these needed.
  void add_proven(const Collectives& collectives) {
    const ProvenEntries& proven = collectives.proven();
    for (const CallIndex call : proven.calls()) {
      const CallIndex left = collectives.left_by(entry_of(call));
      if (left == kNone) continue;
      const CallIndex latest = proven.latest(call);
      bool is_direct = false;
      for (const auto& [to, from] : proven.direct(call)) {
        add_member(left, call, from);
        is_direct = is_direct || from == latest;
      }
      if (latest != kNone && !is_direct) add_member(left, call, latest);
    }
  }

  // A receive may be complete when the last partition is ready, a send when its receive is started:
  // Thaerigen, Hermanns, Geimer (SC-W 2023), section 4.1.1.
  void add(const PartitionOperation& use) {
    if (use.complete_call < 0 || use.partner < 0) return;
    const Run& run = job_.run;
    const auto request_of = [&](const PartitionOperation& one) -> const PartitionRequest& {
      return run.partition_requests[static_cast<std::size_t>(one.request)];
    };
    const PartitionOperation& partner =
        run.partition_operations[static_cast<std::size_t>(use.partner)];
    if (request_of(partner).process == request_of(use).process) return;
    const bool sends = request_of(use).sends;
    const std::int64_t on = sends ? partner.start_call : partner.ready_call;
    // A send that was complete before its receive was started did not need it.
    if (on < 0 || (sends && use.t_complete_ns < partner.t_start_ns)) return;
    rows_.push_back(
        {.kind = sends ? DependencyKind::partitioned_receiver : DependencyKind::partitions,
         .call = use.complete_call,
         .begun = use.start_call,
         .on = on});
  }

  std::vector<CallDependency> finish() {
    std::stable_sort(
        rows_.begin(), rows_.end(),
        [](const CallDependency& a, const CallDependency& b) { return a.call < b.call; });
    return std::move(rows_);
  }

 private:
  void add(DependencyKind kind, const CollectiveOperation& operation, CallIndex own, CallIndex on) {
    const CallIndex call = operation.left_by_process(job_, job_.calls[own].process);
    rows_.push_back(
        {.kind = kind, .call = call.number(), .begun = own.number(), .on = on.number()});
  }

  void add_member(CallIndex call, CallIndex begun, CallIndex on) {
    rows_.push_back({.kind = DependencyKind::member,
                     .call = call.number(),
                     .begun = begun.number(),
                     .on = on.number()});
  }

  // A call that starts a persistent operation with telling messages starts no other.
  EntryOfCall entry_of(CallIndex call) const {
    const auto& started = job_.logs[job_.calls[call].process].makers_of_started;
    const auto makers = started.find(call);
    return makers == started.end() ? EntryOfCall(call) : EntryOfCall(call, makers->second.front());
  }

  void add_root(const CollectiveOperation& operation) {
    if (operation.root == kNone) return;
    for (const CallIndex other : operation.calls) {
      if (other == operation.root) continue;
      if (operation.role == CallRole::from_root) {
        add(DependencyKind::member, operation, other, operation.root);
      } else {
        add(DependencyKind::member, operation, operation.root, other);
      }
    }
  }

  void add_scan(const CollectiveOperation& operation) {
    std::vector<std::pair<std::uint32_t, CallIndex>> by_rank;
    for (std::size_t place = 0; place < operation.calls.size(); ++place) {
      by_rank.emplace_back(operation.rank_at(job_, place), operation.calls[place]);
    }
    std::sort(by_rank.begin(), by_rank.end());
    for (std::size_t i = 1; i < by_rank.size(); ++i) {
      add(DependencyKind::lower_rank, operation, by_rank[i].second, by_rank[i - 1].second);
    }
  }

  const Job& job_;
  std::int64_t operations_ = 0;
  std::vector<CallDependency> rows_;
};

}  // namespace

void find_dependencies(Job& job, const Collectives& collectives,
                       std::vector<CallDependency> of_calls) {
  DependencyRows rows(job, std::move(of_calls));
  for (const CollectiveOperation& operation : collectives.operations()) rows.add(operation);
  rows.add_proven(collectives);
  for (const PartitionOperation& use : job.run.partition_operations) rows.add(use);
  job.run.call_dependencies = rows.finish();
}

}  // namespace uctrace::merge

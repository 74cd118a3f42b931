#include "log-merger/waits/replay.hpp"

#include <algorithm>
#include <span>

namespace uctrace::merge {

namespace {

// The start or the end of a call.
struct Instant {
  std::int64_t ns;
  CallIndex call;
  bool is_end;
};

class Replay {
 public:
  Replay(const Job& job, RolesOfCalls& roles, const Collectives& collectives,
         std::vector<Dependency> dependencies)
      : job_(job),
        roles_(roles),
        dependencies_(std::move(dependencies)),
        entered_(job.calls.size(), -1),
        operation_of_(job.calls.size(), nullptr),
        now_(job.logs.size(), 0),
        began_(job.logs.size(), 0),
        left_ns_(job.logs.size(), -1),
        times_(job.logs.size(), -1) {
    std::sort(dependencies_.begin(), dependencies_.end(),
              [](const Dependency& a, const Dependency& b) { return a.call < b.call; });
    for (const CollectiveOperation& operation : collectives.operations()) {
      if (!operation.complete || operation.begins) continue;
      for (const CallIndex index : operation.calls) operation_of_[index] = &operation;
    }
  }

  std::vector<std::int64_t> run() {
    for (const Instant& instant : instants()) {
      instant.is_end ? leave(instant.call) : enter(instant.call);
    }
    return std::move(times_);
  }

 private:
  // Starts before ends: who enters a barrier last does so when the others leave it, at the latest.
  std::vector<Instant> instants() const {
    std::vector<Instant> all;
    for (const CallIndex index : job_.calls.indexes()) {
      const MpiCall& call = job_.calls[index];
      if (call.open || call.start_ns < 0 || call.end_ns < call.start_ns) continue;
      all.push_back({call.start_ns, index, false});
      all.push_back({call.end_ns, index, true});
    }
    std::sort(all.begin(), all.end(), [](const Instant& a, const Instant& b) {
      if (a.ns != b.ns) return a.ns < b.ns;
      return a.is_end != b.is_end ? !a.is_end : a.call < b.call;
    });
    return all;
  }

  // Processes begin when they did.
  void begin(std::size_t process, std::int64_t at_ns) {
    now_[process] = began_[process] = at_ns;
    times_[process] = 0;
  }

  void enter(CallIndex index) {
    const MpiCall& call = job_.calls[index];
    const std::size_t process = call.process.place();
    const CallRole role = roles_(call).role;
    if (left_ns_[process] >= 0) {
      now_[process] += std::max<std::int64_t>(0, call.start_ns - left_ns_[process]);
    } else {
      begin(process, call.start_ns);
    }
    entered_[index] = now_[process];
    if (role != CallRole::start_of_mpi) times_[process] = now_[process] - began_[process];
  }

  void leave(CallIndex index) {
    const MpiCall& call = job_.calls[index];
    const std::size_t process = call.process.place();
    std::int64_t& now = now_[process];
    const CallRole role = roles_(call).role;
    left_ns_[process] = call.end_ns;
    if (role == CallRole::end_of_mpi) return;
    if (role == CallRole::start_of_mpi) return begin(process, call.end_ns);
    for (const Dependency& on : dependencies_of(index)) now = std::max(now, entered_[on.on]);
    if (operation_of_[index] != nullptr) wait_for_others(index, *operation_of_[index], now);
    times_[process] = now - began_[process];
  }

  void wait_for_others(CallIndex own, const CollectiveOperation& operation, std::int64_t& now) {
    if (operation.role == CallRole::from_root) {
      if (operation.root != kNone) now = std::max(now, entered_[operation.root]);
      return;
    }
    const bool waits_for_all = operation.role == CallRole::barrier ||
                               operation.role == CallRole::all_with_all ||
                               operation.role == CallRole::fence ||
                               (operation.role == CallRole::to_root && operation.root == own);
    if (!waits_for_all) return;
    for (const CallIndex index : operation.calls) now = std::max(now, entered_[index]);
  }

  std::span<const Dependency> dependencies_of(CallIndex index) const {
    const auto [first, last] =
        std::equal_range(dependencies_.begin(), dependencies_.end(), Dependency{index, {}},
                         [](const Dependency& a, const Dependency& b) { return a.call < b.call; });
    return {first, last};
  }

  const Job& job_;
  RolesOfCalls& roles_;
  std::vector<Dependency> dependencies_;
  ByIndex<MpiCall, std::int64_t> entered_;  // in the ideal run, ns; -1 = not yet
  ByIndex<MpiCall, const CollectiveOperation*> operation_of_;
  std::vector<std::int64_t> now_, began_, left_ns_, times_;  // by process
};

}  // namespace

std::vector<std::int64_t> ideal_times(const Job& job, RolesOfCalls& roles,
                                      const Collectives& collectives,
                                      std::vector<Dependency> dependencies) {
  return Replay(job, roles, collectives, std::move(dependencies)).run();
}

}  // namespace uctrace::merge

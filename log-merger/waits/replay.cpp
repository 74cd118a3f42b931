#include "log-merger/waits/replay.hpp"

#include <algorithm>
#include <deque>
#include <span>
#include <unordered_map>
#include <utility>

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
        now_(job.logs.size(), 0),
        began_(job.logs.size(), 0),
        left_ns_(job.logs.size(), -1),
        times_(job.logs.size(), -1),
        ended_(job.logs.size()) {
    std::sort(dependencies_.begin(), dependencies_.end(),
              [](const Dependency& a, const Dependency& b) { return a.call < b.call; });
    for (const CollectiveOperation& operation : collectives.operations()) {
      if (!operation.complete) continue;
      Shared& shared = shared_.emplace_back();
      shared.operation = &operation;
      for (std::size_t i = 0; i < operation.calls.size(); ++i) {
        enters_.push_back({operation.calls[i], &shared});
        if (operation.left_by[i] != kNone) {
          leaves_.push_back({operation.left_by[i], {operation.calls[i], &shared}});
        }
      }
    }
    const auto by_call = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::sort(enters_.begin(), enters_.end(), by_call);
    std::sort(leaves_.begin(), leaves_.end(), by_call);
  }

  std::vector<std::int64_t> run() {
    for (const Instant& instant : instants()) {
      instant.is_end ? leave(instant.call) : enter(instant.call);
    }
    return std::move(times_);
  }

 private:
  // An operation in the ideal run. Who leaves it leaves after all have entered it, but for faults
  // of the clocks.
  struct Shared {
    const CollectiveOperation* operation = nullptr;
    std::int64_t last_entered_ns = -1;
    // Of a scan, when somebody has left it: the last entry of each rank and those below.
    std::unordered_map<CallIndex, std::int64_t> last_below;
  };
  using Entry = std::pair<CallIndex, Shared*>;
  using Exit = std::pair<CallIndex, Entry>;  // by which call, and of which entry

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
    if (ended_[process]) return;
    if (left_ns_[process] >= 0) {
      now_[process] += std::max<std::int64_t>(0, call.start_ns - left_ns_[process]);
    } else {
      begin(process, call.start_ns);
    }
    left_ns_[process] = call.start_ns;  // no time is counted twice
    entered_[index] = now_[process];
    for (const Entry& entry : rows_of(enters_, index)) {
      Shared& shared = *entry.second;
      shared.last_entered_ns = std::max(shared.last_entered_ns, now_[process]);
    }
    if (role != CallRole::start_of_mpi) times_[process] = now_[process] - began_[process];
  }

  void leave(CallIndex index) {
    const MpiCall& call = job_.calls[index];
    const std::size_t process = call.process.place();
    std::int64_t& now = now_[process];
    const CallRole role = roles_(call).role;
    left_ns_[process] = call.end_ns;
    ended_[process] = ended_[process] || role == CallRole::end_of_mpi;
    if (ended_[process]) return;
    if (role == CallRole::start_of_mpi) return begin(process, call.end_ns);
    for (const Dependency& on : dependencies_of(index)) now = std::max(now, entered_[on.on]);
    for (const Exit& exit : rows_of(leaves_, index)) {
      wait_for_others(exit.second.first, *exit.second.second, now);
    }
    times_[process] = now - began_[process];
  }

  void wait_for_others(CallIndex own, Shared& shared, std::int64_t& now) {
    const CollectiveOperation& operation = *shared.operation;
    switch (operation.role) {
      case CallRole::from_root:
        if (operation.root != kNone) now = std::max(now, entered_[operation.root]);
        return;
      case CallRole::from_lower_ranks:
        if (shared.last_below.empty()) fill(shared);
        now = std::max(now, shared.last_below.at(own));
        return;
      case CallRole::to_root:
        if (operation.root == own) now = std::max(now, shared.last_entered_ns);
        return;
      case CallRole::barrier:
      case CallRole::all_with_all:
      case CallRole::fence:
      case CallRole::makes_window:
      case CallRole::frees_window:
        now = std::max(now, shared.last_entered_ns);
        return;
      default:
        return;
    }
  }

  void fill(Shared& scan) {
    std::vector<CallIndex> by_rank = scan.operation->calls;
    const auto rank = [&](CallIndex index) {
      const MpiCall& call = job_.calls[index];
      return job_.logs[call.process].comms[call.comm].rank;
    };
    std::sort(by_rank.begin(), by_rank.end(),
              [&](CallIndex a, CallIndex b) { return rank(a) < rank(b); });
    std::int64_t last_ns = -1;
    for (const CallIndex index : by_rank) {
      last_ns = std::max(last_ns, entered_[index]);
      scan.last_below[index] = last_ns;
    }
  }

  // Of rows that are by their call.
  template <typename Row>
  static std::span<const Row> rows_of(const std::vector<Row>& rows, CallIndex index) {
    const auto [first, last] =
        std::equal_range(rows.begin(), rows.end(), Row{index, {}},
                         [](const Row& a, const Row& b) { return a.first < b.first; });
    return {first, last};
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
  std::deque<Shared> shared_;
  std::vector<Entry> enters_;  // by call
  std::vector<Exit> leaves_;   // by call: one may complete several operations
  std::vector<std::int64_t> now_, began_, left_ns_, times_;  // by process
  std::vector<bool> ended_;                                  // by process: MPI_Finalize is over
};

}  // namespace

std::vector<std::int64_t> ideal_times(const Job& job, RolesOfCalls& roles,
                                      const Collectives& collectives,
                                      std::vector<Dependency> dependencies) {
  return Replay(job, roles, collectives, std::move(dependencies)).run();
}

}  // namespace uctrace::merge

// Waits of one-sided communication except those of all processes of a window (collectives.hpp):
// access and exposure epochs, and locks. Private to the waits.
//
// The groups that MPI_Win_post and MPI_Win_start name are not recorded. An access epoch has the
// targets that its operations name: an origin without operations is not visible. MPI_Win_post may
// notify the origins of its group by UCP operations. If all exposures of a target do so, the
// exposures for an origin are those that notified it; otherwise each may be for it. The k-th access
// of an origin to a target belongs to the k-th of these exposures if their numbers are equal; else
// it is not known.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/mpi/processes_of_ranks.hpp"
#include "log-merger/waits/call_roles.hpp"
#include "log-merger/waits/wait_maker.hpp"

namespace uctrace::merge {

class OneSided {
 public:
  OneSided(const Job& job, RolesOfCalls& roles);
  // Returns the dependencies between calls.
  std::vector<CallDependency> find_waits(const WaitMaker& maker, std::vector<Wait>& rows);

 private:
  // Calls of one process on one window from MPI_Win_start to MPI_Win_complete, or while it holds a
  // lock.
  struct Access {
    ProcessIndex process;
    std::vector<CallIndex> calls;
    std::vector<ProcessIndex> targets;  // each once
    bool alone = false;                 // by an exclusive lock
    bool of_all = false;                // by MPI_Win_lock_all, for all targets
    std::int64_t ends_ns = -1;          // entry of the call that ends it, -1 = none
  };
  struct Exposure {
    CallIndex post, wait;
    std::set<ProcessIndex> told;  // by MPI_Win_post, others than its own
    bool tells_others = false;    // also processes without a log
    bool tells_any() const { return tells_others || !told.empty(); }
  };
  using Exposures = std::vector<const Exposure*>;  // in their order
  // Those of one target.
  struct Exposed {
    std::vector<Exposure> all;
    // Once all are known: exposures that notified an origin, and those that may be for any.
    std::map<ProcessIndex, Exposures> told;
    Exposures for_any;
    bool all_tell = true;
  };
  // Origins of an exposure with a known access, besides its own process.
  struct KnownOrigins {
    std::map<const Exposure*, std::set<ProcessIndex>> of;
    std::set<const Exposure*> may_have_others;
    bool all_of(const Exposure& exposure, std::size_t processes) const;
  };
  // A window, as all processes have it.
  struct Shared {
    std::size_t processes = 0;
    std::vector<Access> accesses;
    std::map<ProcessIndex, Exposed> exposed;
    std::vector<Access> locks;  // of one target each, or of all
  };
  using Key = std::pair<InstanceIndex, std::int32_t>;
  // The open epochs of a process, by window and locked rank, or kAllTargets.
  using Locked = std::map<std::pair<Key, std::int32_t>, Access>;
  static constexpr std::int32_t kAllTargets = -1;
  using AwaitedBy = std::map<CallIndex, std::vector<Awaited>>;

  void add_calls(ProcessIndex process, RolesOfCalls& roles);
  void take(Shared& shared, CallIndex index, CallRole role, std::map<Key, Access>& open,
            Locked& locked, const Key& key);
  void take_operation(CallIndex index, std::map<Key, Access>& open, Locked& locked,
                      const Key& key) const;
  void end_lock(Shared& shared, CallIndex index, Locked& locked,
                const std::pair<Key, std::int32_t>& which) const;
  bool concerns(CallIndex index, ProcessIndex target) const;
  ProcessIndex target_of(const MpiCall& call) const;
  void note_told();
  static const Exposures& exposures_for(ProcessIndex origin, const Exposed& target);
  void find_epochs(const WaitMaker& maker, const Shared& shared, AwaitedBy& awaited);
  void find_epoch(const WaitMaker& maker, const Access& access, const Exposure& exposure,
                  ProcessIndex target, AwaitedBy& awaited);
  void find_locks(const WaitMaker& maker, const Shared& shared, AwaitedBy& awaited);
  void find_holder(const WaitMaker& maker, std::span<const Access* const> ended, const Access& own,
                   ProcessIndex target, AwaitedBy& awaited);
  void add_dependency(CallIndex call, CallIndex on);
  const MpiCall& call(CallIndex index) const { return job_.calls[index]; }

  const Job& job_;
  std::map<Key, Shared> windows_;
  std::vector<CallDependency> dependencies_;
  const ProcessesOfRanks ranks_;
};

}  // namespace uctrace::merge

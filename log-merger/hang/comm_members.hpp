// The processes of a communicator, and the process that a rank in it addresses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/mpi/processes_of_ranks.hpp"

namespace uctrace::merge {

// A group of processes, and its ranks without a log.
struct RankGroup {
  static constexpr std::size_t kNamed = 64;
  std::vector<ProcessIndex> processes;    // ascending
  std::uint64_t missing = 0;              // without a log
  std::vector<std::int64_t> without_log;  // the first kNamed of them, as ranks of their world
  bool complete = true;                   // all members are among these

  bool empty() const { return processes.empty() && missing == 0 && complete; }
  std::uint64_t size() const { return processes.size() + missing; }
  bool contains(ProcessIndex process) const;
};
using RankGroupRef = std::shared_ptr<const RankGroup>;

// Groups are only as large as the number of logs, whatever a damaged log claims.
class CommMembers {
 public:
  explicit CommMembers(const Job& job) : job_(job), ranks_(job) {}

  // The process addressed as `rank` in a communicator of a process.
  RankGroupRef addressed(ProcessIndex process, CommIndex comm, std::int32_t rank) const;
  // The possible senders to a process that receives from any source: its own group including
  // itself, or the remote group of an intercommunicator. Equal groups are shared.
  RankGroupRef sources(ProcessIndex process, CommIndex comm);
  // All members, of both groups.
  RankGroupRef all(InstanceIndex instance);
  // All of a world.
  RankGroupRef world(Index world) const;
  InstanceIndex instance(ProcessIndex process, CommIndex comm) const;

 private:
  void add_run(RankGroup& group, Index world, const log::RankRun& run) const;
  void add_side(RankGroup& group, const CommSide& side) const;

  const Job& job_;
  const ProcessesOfRanks ranks_;
  std::map<std::pair<InstanceIndex, int>, RankGroupRef> sides_;
  std::map<InstanceIndex, RankGroupRef> all_;
};

}  // namespace uctrace::merge

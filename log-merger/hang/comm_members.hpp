// Which processes are in a communicator, and who is addressed by a rank in it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/mpi/processes_of_ranks.hpp"

namespace uctrace::merge {

// Processes of the job that are meant together, and the ranks that left no log.
struct RankGroup {
  static constexpr std::size_t kNamed = 64;
  std::vector<ProcessIndex> processes;    // ascending
  std::uint64_t missing = 0;              // without a log
  std::vector<std::int64_t> without_log;  // the first kNamed of them, as ranks of their world
  bool complete = true;                   // all who belong to it are among these

  bool empty() const { return processes.empty() && missing == 0 && complete; }
  std::uint64_t size() const { return processes.size() + missing; }
  bool contains(ProcessIndex process) const;
};
using RankGroupRef = std::shared_ptr<const RankGroup>;

// Groups are as large as the logs that are there, whatever sizes a damaged log claims.
class CommMembers {
 public:
  explicit CommMembers(const Job& job) : job_(job), ranks_(job) {}

  // Who is addressed as `rank` in a communicator of a process.
  RankGroupRef addressed(ProcessIndex process, CommIndex comm, std::int32_t rank) const;
  // Who may send to a process that receives from any source: all of its own group, itself among
  // them, or the remote one of an intercommunicator. One for all who ask for the same.
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

// Which processes are in a communicator, and who is addressed by a rank in it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Processes of the job that are meant together, and world ranks of those that left no log.
struct RankGroup {
  std::vector<ProcessIndex> processes;  // ascending
  std::vector<std::int32_t> without_log;
  bool complete = true;  // all who belong to it are among these

  bool empty() const { return processes.empty() && without_log.empty() && complete; }
  std::size_t size() const { return processes.size() + without_log.size(); }
};
using RankGroupRef = std::shared_ptr<const RankGroup>;

class CommMembers {
 public:
  explicit CommMembers(const Job& job);

  // Who is addressed as `rank` in a communicator of a process.
  RankGroupRef addressed(ProcessIndex process, CommIndex comm, std::int32_t rank) const;
  // All that could be: the own group, or the remote one of an intercommunicator, without `process`.
  RankGroupRef others(ProcessIndex process, CommIndex comm) const;
  // All members, of both groups.
  RankGroupRef all(InstanceIndex instance) const;
  // All of a world.
  RankGroupRef world(Index world) const;
  InstanceIndex instance(ProcessIndex process, CommIndex comm) const;

 private:
  void add(RankGroup& group, Index world, std::int32_t rank) const;
  void add_side(RankGroup& group, const CommSide& side) const;

  const Job& job_;
  std::map<std::pair<Index, std::int32_t>, ProcessIndex> process_at_;  // by world and rank
};

}  // namespace uctrace::merge

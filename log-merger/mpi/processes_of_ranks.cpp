#include "log-merger/mpi/processes_of_ranks.hpp"

#include "log-merger/mpi/communicators.hpp"

namespace uctrace::merge {

ProcessesOfRanks::ProcessesOfRanks(const Job& job) : job_(job) {
  for (const ProcessIndex process : job.logs.indexes()) {
    const ProcessLog& log = job.logs[process];
    if (log.world != kNone && log.rank() >= 0) process_at_[{log.world, log.rank()}] = process;
  }
}

ProcessIndex ProcessesOfRanks::at(Index world, std::int32_t rank) const {
  const auto found = process_at_.find({world, rank});
  return found == process_at_.end() ? ProcessIndex() : found->second;
}

std::optional<ProcessesOfRanks::Addressed> ProcessesOfRanks::addressed(ProcessIndex process,
                                                                       CommIndex comm,
                                                                       std::int32_t rank) const {
  const auto world_rank = addressed_rank(job_, process, comm, rank);
  if (!world_rank) return std::nullopt;
  const Comm& own = job_.logs[process].comms[comm];
  const CommInstance& made = job_.comms[own.instance];
  const Index world = made.sides[made.inter ? 1 - own.side : 0].world;
  return Addressed{world, *world_rank, at(world, *world_rank)};
}

}  // namespace uctrace::merge

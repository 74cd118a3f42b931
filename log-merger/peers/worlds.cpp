// Which processes share an MPI_COMM_WORLD. A job has several if one spawned another.
#include <algorithm>
#include <map>
#include <tuple>

#include "log-merger/job/job.hpp"
#include "log-merger/mpi/communicators.hpp"

namespace uctrace::merge {

namespace {

// The common properties of the processes of one world.
using Kind = std::tuple<bool, std::int32_t>;  // spawned, size

struct World {
  Kind kind;
  std::int64_t started_ns = INT64_MAX;
  std::vector<ProcessIndex> processes;
};

std::int64_t started_ns(const ProcessLog& log) {
  return log.clock.anchors().empty() ? 0 : log.clock.job_ns(log.clock.anchors().front().tick);
}

}  // namespace

bool was_spawned(const ProcessLog& log) {
  return std::any_of(log.comms.begin(), log.comms.end(),
                     [](const Comm& comm) { return comm.predefined == Predefined::parent; });
}

// No record names a world. Among several of one kind, each has each rank once; the first process to
// start of each rank form the first world, and so on.
void find_worlds(Job& job) {
  std::vector<ProcessIndex> order;
  for (const ProcessIndex p : job.logs.indexes()) {
    if (job.logs[p].file.page().world_rank >= 0) order.push_back(p);
  }
  const auto log_of = [&](ProcessIndex p) -> ProcessLog& { return job.logs[p]; };
  std::stable_sort(order.begin(), order.end(), [&](ProcessIndex a, ProcessIndex b) {
    return started_ns(log_of(a)) < started_ns(log_of(b));
  });
  std::vector<World> worlds;
  std::map<std::tuple<Kind, std::size_t>, std::size_t> world_at;
  std::map<std::tuple<Kind, std::int32_t>, std::size_t> with_rank;
  for (const ProcessIndex p : order) {
    const log::ProcessPage& page = log_of(p).file.page();
    const Kind kind{was_spawned(log_of(p)), page.world_size};
    const std::size_t how_manieth = with_rank[{kind, page.world_rank}]++;
    const auto [place, fresh] = world_at.try_emplace({kind, how_manieth}, worlds.size());
    if (fresh) worlds.push_back({kind, started_ns(log_of(p)), {}});
    worlds[place->second].processes.push_back(p);
  }
  std::stable_sort(worlds.begin(), worlds.end(), [](const World& a, const World& b) {
    return std::tuple(std::get<0>(a.kind), a.started_ns) <
           std::tuple(std::get<0>(b.kind), b.started_ns);
  });
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    for (const ProcessIndex p : worlds[w].processes) log_of(p).world = static_cast<Index>(w);
  }
}

}  // namespace uctrace::merge

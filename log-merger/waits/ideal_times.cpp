#include "log-merger/waits/ideal_times.hpp"

#include "log-merger/replay/replay.hpp"

namespace uctrace::merge {

namespace {

class IdealNetwork final : public replay::Times {
 public:
  std::int64_t in_call_ns(std::int32_t, std::int64_t) override { return 0; }
};

bool is_of_sender(DependencyKind kind) {
  return kind == DependencyKind::receiver || kind == DependencyKind::partitioned_receiver;
}

}  // namespace

std::vector<std::int64_t> ideal_times(const Job& job, RolesOfCalls& roles) {
  std::vector<replay::Call> calls;
  calls.reserve(job.calls.size());
  std::vector<EdgesOfMpi> edges(job.logs.size());
  for (const CallIndex index : job.calls.indexes()) {
    const MpiCall& call = job.calls[index];
    calls.push_back({call.start_ns, call.open ? -1 : call.end_ns,
                     static_cast<std::uint32_t>(call.process.number())});
    edges[call.process.place()].add(roles.edge(call), index.number(), call.start_ns);
  }
  replay::set_parts(calls, edges);
  std::vector<replay::Dependency> dependencies;
  for (const CallDependency& row : job.run.call_dependencies) {
    if (!is_of_sender(row.kind)) dependencies.push_back(replay::dependency_of(row));
  }
  IdealNetwork network;
  const replay::Replayed ideal =
      replay::replay(calls, std::move(dependencies), job.logs.size(), network);
  std::vector<std::int64_t> times;
  for (const replay::ProcessTimes& of_process : ideal.processes) {
    times.push_back(of_process.takes_part ? of_process.end_ns - of_process.begin_ns : -1);
  }
  return times;
}

}  // namespace uctrace::merge

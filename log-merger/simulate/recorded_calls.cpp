#include "log-merger/simulate/recorded_calls.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "event-log/reader/error.hpp"
#include "log-merger/model/mpi_names.hpp"
#include "log-merger/simulate/serial_calls.hpp"

namespace uctrace {

namespace {

void refuse_if_too_many(std::size_t rows) {
  if (rows <= INT32_MAX) return;
  throw Error({.what = "cannot simulate this run",
               .why = "it has more than 2^31 calls of MPI, messages or dependencies",
               .to_do = "record a part of it (record --start-on, --stop-on)"});
}

void read_calls(const RowSource& source, RecordedCalls& recorded) {
  const Run& run = source.run();
  const std::size_t count = source.count<MpiCallRow>();
  recorded.calls.reserve(count);
  recorded.functions.reserve(count);
  recorded.call_sites.reserve(count);
  std::unordered_map<TextId, MpiEdge> edge_of;
  std::vector<EdgesOfMpi> edges(run.processes.size());
  const Wanted<MpiCallRow> wanted = {&MpiCallRow::process,  &MpiCallRow::function,
                                     &MpiCallRow::stack,    &MpiCallRow::t_start_ns,
                                     &MpiCallRow::t_end_ns, &MpiCallRow::lane};
  for_each_row(source, wanted, [&](const MpiCallRow& row, std::size_t number) {
    const auto [edge, fresh] = edge_of.try_emplace(row.function);
    if (fresh) edge->second = edge_of_mpi(run.texts[row.function]);
    edges[row.process].add(edge->second, static_cast<std::int64_t>(number), row.t_start_ns);
    recorded.calls.push_back({row.t_start_ns, row.t_end_ns, row.process, replay::Part::of_run,
                              false, lane_of(row.lane)});
    recorded.functions.push_back(row.function);
    recorded.call_sites.push_back(call_site_at(run, row.stack));
  });
  replay::set_parts(recorded.calls, edges);
}

// If only the clocks are in doubt, the dependency itself is known.
bool is_of_unknown(const Wait& wait) {
  return wait.unknown != WaitUnknown::none && wait.unknown != WaitUnknown::below_clock_bound &&
         wait.unknown != WaitUnknown::clocks;
}

void read_unknown_waits(const RowSource& source, RecordedCalls& recorded) {
  recorded.waits_for_unknown.resize(recorded.calls.size());
  for_each_row(source, Wanted<Wait>{&Wait::unknown, &Wait::call},
               [&](const Wait& wait, std::size_t) {
                 if (wait.call < 0 || !is_of_unknown(wait)) return;
                 recorded.waits_for_unknown[static_cast<std::size_t>(wait.call)] = true;
               });
}

// Operations are renumbered: the file may have any numbers.
void read_dependencies(const RowSource& source, RecordedCalls& recorded) {
  std::unordered_map<std::int64_t, std::int32_t> operations;
  recorded.dependencies.reserve(source.count<CallDependency>());
  for_each_row(source, Wanted<CallDependency>::all(), [&](const CallDependency& row, std::size_t) {
    replay::Dependency dependency = replay::dependency_of(row);
    dependency.operation = -1;
    if (row.operation >= 0) {
      const auto next = static_cast<std::int32_t>(operations.size());
      dependency.operation = operations.try_emplace(row.operation, next).first->second;
    }
    recorded.dependencies.push_back(dependency);
  });
  recorded.operations = operations.size();
}

// Another thread may make partitions ready, or wait, after an MPI_Start: MPI_Pready comes after the
// start, and the wait for a send ends only after the last MPI_Pready. Only between threads of one
// process; within a thread the order is known.
void add_partitions_of_threads(const RowSource& source, RecordedCalls& recorded) {
  const auto place = [](std::int64_t number) { return static_cast<std::int32_t>(number); };
  const auto is_other_thread = [&](std::int64_t a, std::int64_t b) {
    const replay::Call& one = recorded.calls[static_cast<std::size_t>(a)];
    const replay::Call& other = recorded.calls[static_cast<std::size_t>(b)];
    return one.process == other.process && one.lane != other.lane;
  };
  const auto add = [&](std::int64_t call, std::int64_t begun, std::int64_t on) {
    recorded.dependencies.push_back(
        {DependencyKind::partitions, place(call), place(begun), place(on), -1, -1});
  };
  std::vector<std::int64_t> starts;  // by use
  for_each_row(source, Wanted<PartitionOperation>::all(),
               [&](const PartitionOperation& use, std::size_t) {
                 starts.push_back(use.start_call);
                 if (use.complete_call < 0 || use.ready_call < 0) return;
                 if (!is_other_thread(use.complete_call, use.ready_call)) return;
                 add(use.complete_call, use.start_call, use.ready_call);
               });
  const Wanted<PartitionEvent> wanted = {&PartitionEvent::kind, &PartitionEvent::operation,
                                         &PartitionEvent::call};
  std::int64_t last = -1;
  for_each_row(source, wanted, [&](const PartitionEvent& event, std::size_t) {
    if (event.kind != PartitionEventKind::pready || event.operation < 0 || event.call < 0) return;
    const std::int64_t start = starts[static_cast<std::size_t>(event.operation)];
    // One call may make many ready.
    if (start < 0 || event.call == last || !is_other_thread(event.call, start)) return;
    add(last = event.call, start, start);
  });
}

}  // namespace

RecordedCalls recorded_calls(const RowSource& source) {
  refuse_if_too_many(std::max(
      {source.count<MpiCallRow>(), source.count<CallDependency>(), source.count<Message>()}));
  RecordedCalls recorded;
  read_calls(source, recorded);
  const bool any = std::any_of(
      recorded.calls.begin(), recorded.calls.end(),
      [](const replay::Call& call) { return call.start_ns >= 0 && call.end_ns >= call.start_ns; });
  if (!any) {
    throw Error({.what = "cannot simulate this run",
                 .why = "no call of MPI was recorded in it",
                 .to_do = "record an MPI program, with the layer mpi"});
  }
  read_unknown_waits(source, recorded);
  read_dependencies(source, recorded);
  recorded.threads = mark_serial_calls(source, recorded);
  const std::vector<RankTime>& ranks = source.run().rank_times;
  recorded.ranks_without_calls = static_cast<std::size_t>(std::count_if(
      ranks.begin(), ranks.end(), [](const RankTime& rank) { return rank.ideal_ns < 0; }));
  if (recorded.threads.calls > 0) add_partitions_of_threads(source, recorded);
  return recorded;
}

std::vector<std::vector<std::int64_t>> synchronisations(const RecordedCalls& recorded,
                                                        std::size_t processes) {
  std::vector<bool> calls_mpi(processes, false);
  for (const replay::Call& call : recorded.calls) calls_mpi[call.process] = true;
  const auto all = static_cast<std::size_t>(std::count(calls_mpi.begin(), calls_mpi.end(), true));
  std::vector<std::size_t> members(recorded.operations, 0);
  for (const replay::Dependency& one : recorded.dependencies) {
    if (one.operation >= 0 && one.call >= 0 && one.call == one.begun) {
      ++members[static_cast<std::size_t>(one.operation)];
    }
  }
  std::vector<std::vector<std::int64_t>> left_ns(processes);
  for (const replay::Dependency& one : recorded.dependencies) {
    if (one.operation < 0 || one.call < 0 || one.call != one.begun) continue;
    if (members[static_cast<std::size_t>(one.operation)] != all) continue;
    const replay::Call& call = recorded.calls[static_cast<std::size_t>(one.call)];
    left_ns[call.process].push_back(call.end_ns);
  }
  for (auto& of_process : left_ns) std::sort(of_process.begin(), of_process.end());
  return left_ns;
}

}  // namespace uctrace

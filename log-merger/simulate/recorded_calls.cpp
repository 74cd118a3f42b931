#include "log-merger/simulate/recorded_calls.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "event-log/reader/error.hpp"
#include "log-merger/model/mpi_names.hpp"

namespace uctrace {

namespace {

replay::Part part_of(const std::string& function) {
  const std::string base = parse_mpi_name(function).base;
  if (base == "init" || base == "init_thread") return replay::Part::start_of_mpi;
  return base == "finalize" ? replay::Part::end_of_mpi : replay::Part::of_run;
}

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
  std::unordered_map<TextId, replay::Part> parts;
  const Wanted<MpiCallRow> wanted = {&MpiCallRow::process, &MpiCallRow::function,
                                     &MpiCallRow::stack, &MpiCallRow::t_start_ns,
                                     &MpiCallRow::t_end_ns};
  for_each_row(source, wanted, [&](const MpiCallRow& row, std::size_t) {
    const auto [part, fresh] = parts.try_emplace(row.function);
    if (fresh) part->second = part_of(run.texts[row.function]);
    recorded.calls.push_back({row.t_start_ns, row.t_end_ns, row.process, part->second});
    recorded.functions.push_back(row.function);
    recorded.call_sites.push_back(call_site_at(run, row.stack));
  });
}

// Where only the clocks are in doubt it is known what the call depended on.
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

// Operations are numbered anew: the file may hold any numbers.
void read_dependencies(const RowSource& source, RecordedCalls& recorded) {
  std::unordered_map<std::int64_t, std::int32_t> operations;
  recorded.dependencies.reserve(source.count<CallDependency>());
  for_each_row(source, Wanted<CallDependency>::all(), [&](const CallDependency& row, std::size_t) {
    replay::Dependency dependency = replay::dependency_of(row);
    if (row.operation >= 0) {
      const auto next = static_cast<std::int32_t>(operations.size());
      dependency.operation = operations.try_emplace(row.operation, next).first->second;
    }
    recorded.dependencies.push_back(dependency);
  });
  recorded.operations = operations.size();
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

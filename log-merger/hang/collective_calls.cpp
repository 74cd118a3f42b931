#include "log-merger/hang/collective_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "log-merger/job/log_damage.hpp"
#include "log-merger/model/mpi_names.hpp"
#include "log-merger/waits/call_roles.hpp"

namespace uctrace::merge {

namespace {

// Collective functions that make another communicator or a file.
constexpr std::string_view kMakers[] = {"comm_dup",          "comm_dup_with_info",
                                        "comm_create",       "comm_split",
                                        "comm_split_type",   "cart_create",
                                        "cart_sub",          "graph_create",
                                        "dist_graph_create", "dist_graph_create_adjacent",
                                        "intercomm_merge",   "file_open"};

template <std::size_t N>
bool is_in(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

CollectiveKind collective_kind(const std::string& function) {
  switch (role_of_call(function).role) {
    case CallRole::barrier:
    case CallRole::all_with_all:
    case CallRole::makes_window:
    case CallRole::frees_window:
    case CallRole::fence:
      return CollectiveKind::synchronising;
    case CallRole::from_root:
    case CallRole::to_root:
    case CallRole::from_lower_ranks:
    case CallRole::over_counts:
    case CallRole::with_neighbours:
      return CollectiveKind::partial;
    default:
      break;
  }
  const std::string base = parse_mpi_name(function).base;
  if (is_in(base, kMakers)) return CollectiveKind::synchronising;
  return base.starts_with("comm_idup") ? CollectiveKind::partial : CollectiveKind::none;
}

bool same_collective(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const MpiName left = parse_mpi_name(a), right = parse_mpi_name(b);
  return left.base == right.base && left.nonblocking == right.nonblocking;
}

std::string why_incomplete(const Job& job, ProcessIndex process) {
  const ProcessLog& log = job.logs[process];
  if (log.dropped(log::DropKind::mpi) > 0) return "MPI calls of it were dropped";
  if (!log.recorded.whole()) return "parts of it were not recorded, or overwritten";
  if (unreadable_parts(log) > 0) return "its log is damaged";
  const bool drained = log.file.page().storage == log::Storage::drained;
  if (drained && log.file.page().closed == 0) {
    return "the last half second may be missing from its log, which is not written in place";
  }
  return "";
}

// A failed call did not take part.
CollectiveCalls::CollectiveCalls(const Job& job, CommMembers& members)
    : job_(job), members_(members) {
  std::unordered_map<TextId, bool> collective;
  for (const CallIndex index : job.calls.indexes()) {
    const MpiCall& call = job.calls[index];
    if (call.comm == kNone || (!call.open && call.status != 0)) continue;
    const auto [known, fresh] = collective.try_emplace(call.function);
    if (fresh) {
      known->second = collective_kind(job.run.texts[call.function]) != CollectiveKind::none;
    }
    if (known->second) calls_[{call.process, domain_of(call)}].push_back(index);
  }
  for (auto& [of, calls] : calls_) {
    std::stable_sort(calls.begin(), calls.end(), [&](CallIndex a, CallIndex b) {
      return job.calls[a].start_tick < job.calls[b].start_tick;
    });
  }
}

std::int32_t CollectiveCalls::window_of(const MpiCall& call) {
  if (!call.on_window || call.window == kNone) return -1;
  const auto& windows = job_.logs[call.process].windows;
  return windows_.try_emplace(call.process, windows).first->second.of(call.window);
}

CollectiveCalls::Domain CollectiveCalls::domain_of(const MpiCall& call) {
  return {members_.instance(call.process, call.comm), call.on_window, window_of(call)};
}

const std::vector<CallIndex>& CollectiveCalls::calls_of(ProcessIndex process,
                                                        const Domain& domain) const {
  static const std::vector<CallIndex> kNoCalls;
  const auto found = calls_.find({process, domain});
  return found == calls_.end() ? kNoCalls : found->second;
}

std::string CollectiveCalls::why_unsure(const RankGroup& members) const {
  for (const ProcessIndex process : members.processes) {
    if (const std::string why = why_incomplete(job_, process); !why.empty()) {
      return fmt::format("the collective calls of rank {} cannot be counted: {}",
                         job_.run.processes[process.place()].rank, why);
    }
  }
  return members.complete ? "" : "not all members of the communicator are known";
}

const CollectiveState& CollectiveCalls::state_of(CallIndex index) {
  const MpiCall& call = job_.calls[index];
  const Domain domain = domain_of(call);
  const std::vector<CallIndex>& own = calls_of(call.process, domain);
  const auto number =
      static_cast<std::size_t>(std::find(own.begin(), own.end(), index) - own.begin()) + 1;
  const std::string& function = job_.run.texts[call.function];
  const auto [state, fresh] = states_.try_emplace({domain, number, function});
  if (fresh) state->second = find(domain, number, function);
  return state->second;
}

CollectiveState CollectiveCalls::find(const Domain& domain, std::size_t number,
                                      const std::string& function) {
  const RankGroupRef members = members_.all(domain.instance);
  auto not_entered = std::make_shared<RankGroup>();
  not_entered->without_log = members->without_log;
  not_entered->missing = members->missing;
  std::map<std::string, std::pair<CallIndex, std::shared_ptr<RankGroup>>> others;
  for (const ProcessIndex process : members->processes) {
    const std::vector<CallIndex>& calls = calls_of(process, domain);
    if (calls.size() < number) {
      not_entered->processes.push_back(process);
      continue;
    }
    const CallIndex same_place = calls[number - 1];
    const std::string& called = job_.run.texts[job_.calls[same_place].function];
    if (same_collective(called, function)) continue;
    auto& [example, group] = others[called];
    if (group == nullptr) {
      example = same_place;
      group = std::make_shared<RankGroup>();
    }
    group->processes.push_back(process);
  }
  CollectiveState state;
  state.number = number;
  state.not_entered = std::move(not_entered);
  state.unsure = why_unsure(*members);
  for (auto& [called, other] : others) {
    state.others.push_back({called, other.first, std::move(other.second)});
  }
  return state;
}

}  // namespace uctrace::merge

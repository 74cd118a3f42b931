#include "log-merger/waits/call_roles.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "log-merger/model/mpi_names.hpp"

namespace uctrace::merge {

namespace {

using Named = std::pair<std::string_view, CallRole>;

CallRole find(const Named* begin, const Named* end, std::string_view name, CallRole otherwise) {
  const auto* found = std::find_if(begin, end, [&](const Named& one) { return one.first == name; });
  return found != end ? found->second : otherwise;
}

// Neighbourhood collectives, and those with counts per process, may not depend on late processes.
CallRole role_of_collective(std::string_view base) {
  static constexpr Named kRoles[] = {{"barrier", CallRole::barrier},
                                     {"allreduce", CallRole::all_with_all},
                                     {"allgather", CallRole::all_with_all},
                                     {"allgatherv", CallRole::all_with_all},
                                     {"alltoall", CallRole::all_with_all},
                                     {"reduce_scatter", CallRole::all_with_all},
                                     {"reduce_scatter_block", CallRole::all_with_all},
                                     {"bcast", CallRole::from_root},
                                     {"scatter", CallRole::from_root},
                                     {"scatterv", CallRole::from_root},
                                     {"reduce", CallRole::to_root},
                                     {"gather", CallRole::to_root},
                                     {"gatherv", CallRole::to_root},
                                     {"scan", CallRole::from_lower_ranks},
                                     {"exscan", CallRole::from_lower_ranks}};
  const CallRole otherwise =
      base.starts_with("neighbor_") ? CallRole::with_neighbours : CallRole::over_counts;
  return find(std::begin(kRoles), std::end(kRoles), base, otherwise);
}

CallRole role_of_one_sided(std::string_view base) {
  static constexpr Named kRoles[] = {{"win_create", CallRole::makes_window},
                                     {"win_allocate", CallRole::makes_window},
                                     {"win_allocate_shared", CallRole::makes_window},
                                     {"win_create_dynamic", CallRole::makes_window},
                                     {"win_free", CallRole::frees_window},
                                     {"win_fence", CallRole::fence},
                                     {"win_post", CallRole::post},
                                     {"win_start", CallRole::start_access},
                                     {"win_complete", CallRole::complete_access},
                                     {"win_wait", CallRole::wait_access},
                                     {"win_lock", CallRole::lock},
                                     {"win_unlock", CallRole::unlock},
                                     {"win_lock_all", CallRole::lock_all},
                                     {"win_unlock_all", CallRole::unlock_all},
                                     {"win_test", CallRole::other},
                                     {"win_attach", CallRole::other},
                                     {"win_detach", CallRole::other},
                                     {"win_sync", CallRole::other}};
  return find(std::begin(kRoles), std::end(kRoles), base, CallRole::one_sided);
}

CallRole role_of_message(const MpiName& name) {
  const bool only_begins = name.nonblocking || name.persistent || name.base.starts_with("start") ||
                           name.base.starts_with("pready");
  return only_begins ? CallRole::other : CallRole::message;
}

CallRole role_of_completion(const MpiName& name) {
  if (name.base.starts_with("wait")) return CallRole::completes;
  const bool probes = !name.nonblocking && (name.base == "probe" || name.base == "mprobe");
  return probes ? CallRole::probe : CallRole::other;
}

// All processes that opened a file make these calls together.
CallRole role_of_file(std::string_view base) {
  if (base.starts_with("file_i")) return CallRole::other;
  const bool together =
      base.ends_with("_all") || base.ends_with("_ordered") || base.ends_with("_all_end") ||
      base.ends_with("_ordered_end") || base == "file_close" || base == "file_set_view" ||
      base == "file_set_size" || base == "file_set_atomicity" || base == "file_preallocate" ||
      base == "file_seek_shared" || base == "file_sync";
  if (base == "file_open") return CallRole::opens_file;
  return together ? CallRole::on_file : CallRole::moves;
}

// The participants are not exactly the processes of the call's communicator.
constexpr std::string_view kWithOthers[] = {
    "comm_accept",      "comm_connect",           "comm_join",
    "comm_spawn",       "comm_create_group",      "comm_spawn_multiple",
    "intercomm_create", "comm_create_from_group", "intercomm_create_from_groups"};

// A session begins without other processes, and MPI does not define who waits at its end.
RoleOfCall role_of_edge(MpiEdge edge) {
  if (edge == MpiEdge::init) return {CallRole::start_of_mpi};
  return {edge == MpiEdge::finalize ? CallRole::end_of_mpi : CallRole::other};
}

RoleOfCall role_of_management(std::string_view base) {
  if (std::find(std::begin(kWithOthers), std::end(kWithOthers), base) != std::end(kWithOthers)) {
    return {CallRole::with_others};
  }
  const bool makes_communicator = base.starts_with("comm_") || base.ends_with("_create") ||
                                  base == "cart_sub" || base == "dist_graph_create_adjacent" ||
                                  base == "intercomm_merge";
  if (!makes_communicator || base == "comm_set_name") return {};
  return {CallRole::manages, base.starts_with("comm_idup")};
}

}  // namespace

RoleOfCall role_of_call(std::string_view function) {
  if (const MpiEdge edge = edge_of_mpi(function); edge != MpiEdge::none) return role_of_edge(edge);
  const MpiName name = parse_mpi_name(function);
  switch (name.kind) {
    case MpiKind::p2p:
      return {role_of_message(name), false};
    case MpiKind::completion:
      return {role_of_completion(name), false};
    case MpiKind::collective:
      if (name.persistent) return {CallRole::manages};
      return {role_of_collective(name.base), name.nonblocking};
    case MpiKind::rma:
      return {role_of_one_sided(name.base), false};
    case MpiKind::io:
      return {role_of_file(name.base), false};
    case MpiKind::management:
      return role_of_management(name.base);
  }
  return {};
}

CallRole role_of_starts(std::string_view function) {
  const MpiName name = parse_mpi_name(function);
  const bool starts = name.persistent && name.kind == MpiKind::collective;
  return starts ? role_of_collective(name.base) : CallRole::other;
}

bool is_collective(CallRole role) { return role >= CallRole::barrier && role <= CallRole::manages; }

bool has_no_rule(CallRole role) {
  return role >= CallRole::over_counts && role <= CallRole::on_file;
}

bool may_not_synchronise(CallRole role) {
  return role == CallRole::makes_window || role == CallRole::frees_window ||
         role == CallRole::fence || role == CallRole::end_of_mpi;
}

const RolesOfCalls::Known& RolesOfCalls::of(const MpiCall& call) {
  const auto [place, fresh] = known_.try_emplace(call.function);
  if (fresh) {
    const std::string& function = job_.run.texts[call.function];
    place->second = {role_of_call(function), role_of_starts(function), edge_of_mpi(function)};
  }
  return place->second;
}

}  // namespace uctrace::merge

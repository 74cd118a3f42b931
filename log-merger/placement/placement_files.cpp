#include "log-merger/placement/placement_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <optional>
#include <set>
#include <system_error>

#include "event-log/reader/error.hpp"
#include "log-merger/folder/new_file.hpp"
#include "log-merger/folder/new_folder.hpp"

namespace uctrace {
namespace {

const placement::Placement& slots_of(const PlacementPlan& plan) {
  return plan.proposed().placement;
}

// A host for each rank, a line each.
std::string hosts(const PlacementPlan& plan, const char* behind) {
  std::string text;
  for (const std::uint32_t slot : slots_of(plan)) {
    text += plan.node_of(slot).host + behind + "\n";
  }
  return text;
}

// Whether the core of each rank is known and used by no other rank.
bool has_cores(const PlacementPlan& plan) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> taken;
  for (const std::uint32_t slot : slots_of(plan)) {
    const placement::Slot& at = plan.machine.slots[slot];
    if (!plan.nodes[at.node].shape || !taken.emplace(at.node, at.core).second) return false;
  }
  return true;
}

std::string rankfile(const PlacementPlan& plan) {
  std::string text;
  for (std::size_t rank = 0; rank < slots_of(plan).size(); ++rank) {
    const std::uint32_t slot = slots_of(plan)[rank];
    text += fmt::format("rank {}={} slot={}\n", rank, plan.node_of(slot).host,
                        plan.machine.slots[slot].core);
  }
  return text;
}

// The processors of a node's ranks, in order, if they are the same on all nodes: launchers take one
// list for all nodes.
std::optional<std::vector<std::uint32_t>> common_processors(const PlacementPlan& plan) {
  std::vector<std::vector<std::uint32_t>> of_node(plan.nodes.size());
  for (const std::uint32_t slot : slots_of(plan)) {
    const placement::Slot& at = plan.machine.slots[slot];
    of_node[at.node].push_back(plan.nodes[at.node].shape->cores[at.core].cpu);
  }
  std::optional<std::vector<std::uint32_t>> common;
  for (const auto& processors : of_node) {
    if (processors.empty()) continue;
    if (common && *common != processors) return std::nullopt;
    common = processors;
  }
  return common;
}

// For jobs that reorder themselves: for each present rank's slot, the rank proposed there.
std::string keys(const PlacementPlan& plan) {
  const auto& now = plan.now().placement;
  std::vector<std::optional<std::size_t>> proposed(plan.machine.slots.size());
  for (std::size_t rank = 0; rank < now.size(); ++rank) proposed[slots_of(plan)[rank]] = rank;
  std::string text;
  for (const std::uint32_t slot : now) {
    if (!proposed[slot]) return "";  // slots that are free now are used
    text += fmt::format("{}\n", *proposed[slot]);
  }
  return text;
}

}  // namespace

std::vector<PlacementFile> placement_files(const PlacementPlan& plan) {
  const std::size_t ranks = slots_of(plan).size();
  std::vector<PlacementFile> files;
  std::string hydra_binding, slurm_binding;
  if (has_cores(plan)) {
    files.push_back({"rankfile", rankfile(plan),
                     fmt::format("Open MPI: mpirun -np {} --rankfile rankfile", ranks)});
    if (const auto processors = common_processors(plan)) {
      hydra_binding = fmt::format(" -bind-to user:{}", fmt::join(*processors, ","));
      slurm_binding = fmt::format(" --cpu-bind=map_cpu:{}", fmt::join(*processors, ","));
    }
  }
  files.push_back({"hosts.openmpi", hosts(plan, ""),
                   fmt::format("Open MPI 4, hosts alone: mpirun -np {} --mca rmaps seq --hostfile "
                               "hosts.openmpi (5: --map-by seq:file=hosts.openmpi)",
                               ranks)});
  files.push_back(
      {"hosts.hydra", hosts(plan, ":1"),
       fmt::format("MPICH, Intel MPI: mpiexec -n {} -f hosts.hydra{}", ranks, hydra_binding)});
  files.push_back({"hosts.slurm", hosts(plan, ""),
                   fmt::format("Slurm: SLURM_HOSTFILE=hosts.slurm srun -n {} -m arbitrary{}", ranks,
                               slurm_binding)});
  if (std::string text = keys(plan); !text.empty()) {
    files.push_back({"keys", std::move(text),
                     "inside the job: MPI_Comm_split(comm, 0, key of this rank, &reordered)"});
  }
  return files;
}

void write_placement_files(const std::vector<PlacementFile>& files,
                           const std::filesystem::path& folder) {
  const std::string what = "cannot write the placement '" + folder.string() + "'";
  try {
    NewFolder made(folder);
    for (const PlacementFile& file : files) {
      NewFile written(made.path() / file.name);
      written.write(file.content);
      written.publish_new();
    }
    made.publish();
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::file_exists) {
      throw Error({.what = what,
                   .why = "something of this name is there already",
                   .to_do = "remove it, or name another place with --write DIR"});
    }
    throw Error({.what = what,
                 .why = why_not_written(error),
                 .to_do = "name another place with --write DIR"});
  }
}

}  // namespace uctrace

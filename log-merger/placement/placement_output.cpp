#include "log-merger/placement/placement_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "log-merger/placement/placement_files.hpp"
#include "log-merger/reports/info_output.hpp"
#include "log-merger/reports/report.hpp"
#include "placement/propose.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;
using placement::Cost;

std::uint64_t in_64_bits(Cost cost) {
  return cost > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(cost);
}

Unit unit_of(PlacementBy by) {
  return by == PlacementBy::bytes      ? Unit::bytes
         : by == PlacementBy::messages ? Unit::count
                                       : Unit::nanoseconds;
}

const char* ending_of(PlacementBy by) {
  return by == PlacementBy::bytes ? "_bytes" : by == PlacementBy::waits ? "_ns" : "";
}

double percent(double part) { return 100.0 * part; }

Table candidates_table(const PlacementPlan& plan) {
  const Unit unit = unit_of(plan.by);
  const std::string ending = ending_of(plan.by);
  Table table{.key = "placements",
              .title = fmt::format("Modelled: {} between ranks, times what it costs to be apart",
                                   plan.by == PlacementBy::waits ? "waiting" : name_of(plan.by)),
              .columns = {{"name", "placement"},
                          {"cost", "cost", Unit::count},
                          {"gain_percent", "less than now", Unit::percent},
                          {"between_nodes" + ending, "between nodes", unit},
                          {"between_packages" + ending, "between packages", unit},
                          {"inside" + ending, "inside", unit}},
              .rows = {}};
  const auto now = static_cast<double>(plan.now().outcome.cost);
  for (const Candidate& candidate : plan.candidates) {
    const double less = now - static_cast<double>(candidate.outcome.cost);
    table.rows.push_back({std::string(candidate.name), in_64_bits(candidate.outcome.cost),
                          now == 0 ? Cell{} : Cell{percent(less / now)},
                          candidate.outcome.between_nodes, candidate.outcome.between_packages,
                          candidate.outcome.inside});
  }
  return table;
}

Table ranks_table(const PlacementPlan& plan) {
  Table table{.key = "ranks",
              .title = "Ranks",
              .columns = {{"rank", "rank", Unit::count},
                          {"host_now", "now on"},
                          {"host", "proposed"},
                          {"core", "core", Unit::count}},
              .rows = {}};
  for (std::size_t rank = 0; rank < plan.now().placement.size(); ++rank) {
    const std::uint32_t slot = plan.proposed().placement[rank];
    const PlannedNode& node = plan.node_of(slot);
    table.rows.push_back(
        {std::uint64_t{rank}, plan.node_of(plan.now().placement[rank]).host, node.host,
         node.shape ? Cell{std::uint64_t{plan.machine.slots[slot].core}} : Cell{}});
  }
  return table;
}

std::string verdict(const PlacementPlan& plan) {
  if (plan.total == 0) return "keep: these ranks have nothing to do with each other";
  if (plan.keep) {
    return fmt::format(
        "keep: the best that was found saves {:.1f} %, and below {:.0f} % a change "
        "is not worth it",
        percent(plan.gain), percent(placement::kLeastGain));
  }
  return fmt::format("move: the proposed placement saves {:.1f} % of the modelled cost",
                     percent(plan.gain));
}

std::vector<std::string> remarks(const PlacementPlan& plan) {
  std::vector<std::string> lines;
  if (plan.is_of_counters) {
    lines.emplace_back(
        "from the counters, because no message was recorded. What one-sided operations moved is in "
        "twice if MPI sent it in messages");
  }
  if (plan.ranks_without_counters != 0) {
    lines.push_back(fmt::format("{} ranks left no counters: what they sent is not in",
                                plan.ranks_without_counters));
  }
  if (plan.left_out != 0) {
    lines.push_back(fmt::format("left out: {}, of which an end is no rank of the first world",
                                format_cell(Cell{plan.left_out}, unit_of(plan.by))));
  }
  const auto unknown = static_cast<std::size_t>(std::count_if(
      plan.nodes.begin(), plan.nodes.end(), [](const PlannedNode& node) { return !node.shape; }));
  if (unknown != 0) {
    lines.push_back(
        fmt::format("the cores of {} of {} nodes are not known, and taken to be alike; "
                    "--topology FILE names a node's (lstopo --of xml FILE)",
                    unknown, plan.nodes.size()));
  } else {
    lines.push_back(
        "on which core a rank ran is not recorded: on each node the ranks are taken to be "
        "on the cores in their order");
  }
  return lines;
}

ordered_json nodes_json(const PlacementPlan& plan) {
  ordered_json nodes = ordered_json::array();
  for (const PlannedNode& node : plan.nodes) {
    const bool known = node.shape.has_value();
    nodes.push_back(
        {{"host", node.host},
         {"slots", node.slots},
         {"cores", known ? ordered_json(node.shape->cores.size()) : ordered_json(nullptr)}});
  }
  return nodes;
}

void write_json(std::ostream& out, const Run& run, const PlacementPlan& plan,
                const std::vector<PlacementFile>& files) {
  ordered_json commands = ordered_json::array();
  for (const PlacementFile& file : files) {
    commands.push_back({{"file", file.name}, {"content", file.content}, {"use", file.command}});
  }
  const auto& costs = plan.machine.costs;
  const ordered_json result = {
      {"schema", kInfoSchema},
      {"run", run.run_id},
      {"by", name_of(plan.by)},
      {"of", plan.is_of_counters ? "counters" : "trace"},
      {"ranks_without_counters", plan.ranks_without_counters},
      {"verdict", plan.keep ? "keep" : "move"},
      {"gain_percent", percent(plan.gain)},
      {"total", plan.total},
      {"left_out", plan.left_out},
      {"costs", {{"node", costs.node}, {"package", costs.package}, {"core", costs.core}}},
      {"scotch", plan.by_scotch},
      {"nodes", nodes_json(plan)},
      {"placements", to_json(candidates_table(plan))},
      {"ranks", to_json(ranks_table(plan))},
      {"files", commands}};
  out << dump(result, 2) << '\n';
}

void write_text(std::ostream& out, const Run& run, const PlacementPlan& plan,
                const std::vector<PlacementFile>& files, const PlacementOptions& options) {
  write_run_line(out, run);
  out << '\n';
  uctrace::write_text(out, candidates_table(plan), options.colour, options.width);
  out << '\n' << verdict(plan) << '\n';
  if (!plan.keep) {
    Table ranks = ranks_table(plan);
    if (options.limit) ranks.keep_first(*options.limit);
    out << '\n';
    uctrace::write_text(out, ranks, options.colour, options.width);
  }
  if (!options.write.empty()) {
    out << '\n' << "written to " << options.write.string() << ":\n";
    for (const PlacementFile& file : files) out << file.command << '\n';
  } else if (!plan.keep) {
    out << "\n--write DIR writes it for Open MPI, MPICH and Slurm\n";
  }
  out << '\n';
  for (const std::string& remark : remarks(plan)) out << "# " << remark << '\n';
}

}  // namespace

void write_placement(std::ostream& out, const RowSource& source,
                     const std::filesystem::path& folder, const PlacementOptions& options) {
  const PlacementPlan plan = make_plan(source, folder, options.wish);
  const std::vector<PlacementFile> files = placement_files(plan);
  if (!options.write.empty()) write_placement_files(files, options.write);
  if (options.format == Format::json) {
    write_json(out, source.run(), plan, files);
  } else {
    write_text(out, source.run(), plan, files, options);
  }
}

}  // namespace uctrace

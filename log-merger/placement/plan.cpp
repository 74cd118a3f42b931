#include "log-merger/placement/plan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "event-log/reader/error.hpp"
#include "log-merger/live/live_folder.hpp"
#include "log-merger/placement/scotch.hpp"
#include "placement/partition.hpp"
#include "placement/propose.hpp"

namespace uctrace {
namespace {

namespace fs = std::filesystem;

bool is_this_machine(const std::string& host) {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && host == name;
}

// The topology file that the job left for a node with GPUs: HOST-BOOT.topology.xml.
std::optional<NodeShape> recorded_shape(const fs::path& folder, const std::string& host) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    constexpr std::string_view kEnding = ".topology.xml";
    constexpr std::size_t kBoot = 9;  // "-" and 8 digits
    if (name.size() == host.size() + kBoot + kEnding.size() && name.ends_with(kEnding) &&
        name.starts_with(host + "-")) {
      return shape_in_file(it->path());
    }
  }
  return std::nullopt;
}

// For a run without messages.
std::vector<log::CounterSnapshot> counters_of(const RowSource& source, const fs::path& folder) {
  if (source.count<Message>() != 0) return {};
  const std::string& run_id = source.run().run_id;
  const std::string key = run_id.substr(0, run_id.rfind('@'));
  live::LiveFolder jobs(folder, {.job = key});
  jobs.read();
  const live::Reading* job = jobs.job(key);
  return job != nullptr ? job->now : std::vector<log::CounterSnapshot>();
}

class Planner {
 public:
  Planner(const RankMatrix& matrix, const fs::path& folder, const PlacementWish& wish)
      : matrix_(matrix), folder_(folder), wish_(wish) {}

  PlacementPlan make() {
    plan_.by = wish_.by;
    plan_.machine.costs = wish_.costs;
    plan_.total = matrix_.affinity.total();
    plan_.left_out = matrix_.left_out;
    plan_.is_of_counters = matrix_.is_of_counters;
    plan_.ranks_without_counters = matrix_.ranks_without_counters;
    make_nodes();
    for (std::uint32_t node = 0; node < plan_.nodes.size(); ++node) add_slots(node);
    compare();
    return std::move(plan_);
  }

 private:
  // In the order of their first ranks.
  void make_nodes() {
    for (const std::string& host : matrix_.host) {
      const auto [found, is_new] =
          node_of_host_.try_emplace(host, static_cast<std::uint32_t>(plan_.nodes.size()));
      if (is_new) plan_.nodes.push_back({.host = host});
      ++plan_.nodes[found->second].slots;
    }
    for (PlannedNode& node : plan_.nodes) {
      if (wish_.slots) node.slots = slots_for(node);
      node.shape = shape_of(node.host);
    }
  }

  std::uint32_t slots_for(const PlannedNode& node) const {
    constexpr std::uint64_t kMost = 1 << 20;
    if (*wish_.slots >= node.slots && *wish_.slots <= kMost) {
      return static_cast<std::uint32_t>(*wish_.slots);
    }
    throw Error({.what = fmt::format("--slots {}", *wish_.slots),
                 .why = fmt::format("{} ranks ran on {}", node.slots, node.host),
                 .to_do = fmt::format("give {} to {}, or leave it out", node.slots, kMost)});
  }

  std::optional<NodeShape> shape_of(const std::string& host) const {
    if (!wish_.topology.empty()) return shape_in_file(wish_.topology);
    if (auto shape = recorded_shape(folder_, host)) return shape;
    return is_this_machine(host) ? shape_of_this_machine() : std::nullopt;
  }

  // Cores from the first one on; if there are fewer, ranks share them evenly.
  void add_slots(std::uint32_t node) {
    const PlannedNode& planned = plan_.nodes[node];
    for (std::uint32_t i = 0; i < planned.slots; ++i) {
      placement::Slot slot{node, 0, i};
      if (planned.shape) {
        const auto cores = static_cast<std::uint32_t>(planned.shape->cores.size());
        slot.core = planned.slots <= cores
                        ? i
                        : static_cast<std::uint32_t>(std::uint64_t{i} * cores / planned.slots);
        slot.package = planned.shape->cores[slot.core].package;
      }
      plan_.machine.slots.push_back(slot);
    }
  }

  // Assumes that ranks are in order within a node.
  placement::Placement placement_of_now() const {
    std::vector<std::uint32_t> next(plan_.nodes.size(), 0);
    for (std::uint32_t node = 1; node < next.size(); ++node) {
      next[node] = next[node - 1] + plan_.nodes[node - 1].slots;
    }
    placement::Placement placement;
    for (const std::string& host : matrix_.host) {
      placement.push_back(next[node_of_host_.at(host)]++);
    }
    return placement;
  }

  void compare() {
    const std::size_t ranks = matrix_.host.size();
    const placement::Placement now = placement_of_now();
    std::vector<placement::Partitioner> partitioners = {placement::grow_parts};
    if (auto scotch = scotch_partitioner()) {
      partitioners.push_back(*scotch);
      plan_.by_scotch = true;
    }
    add("now", now);
    add("packed", placement::packed(plan_.machine, ranks));
    add("cyclic", placement::cyclic(plan_.machine, ranks));
    add("proposed", placement::proposed(matrix_.affinity, plan_.machine, now, partitioners));
    plan_.gain = placement::gain_of(plan_.now().outcome.cost, plan_.proposed().outcome.cost);
    plan_.keep = plan_.gain < placement::kLeastGain;
  }

  void add(const char* name, placement::Placement placement) {
    const auto outcome = placement::outcome_of(matrix_.affinity, plan_.machine, placement);
    plan_.candidates.push_back({name, std::move(placement), outcome});
  }

  const RankMatrix& matrix_;
  const fs::path& folder_;
  const PlacementWish& wish_;
  std::map<std::string, std::uint32_t> node_of_host_;
  PlacementPlan plan_;
};

}  // namespace

PlacementPlan make_plan(const RowSource& source, const std::filesystem::path& folder,
                        const PlacementWish& wish) {
  const RankMatrix matrix = rank_matrix(source, wish.by, counters_of(source, folder));
  return Planner(matrix, folder, wish).make();
}

}  // namespace uctrace

// Results about an unfinished job, shared by several lists.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "log-merger/hang/hang_graph.hpp"
#include "log-merger/hang/needs.hpp"
#include "log-merger/hang/seat_words.hpp"
#include "log-merger/hang/sitters.hpp"
#include "log-merger/hang/wait_graph.hpp"

namespace uctrace::merge {

// Whether ranks wait for ever because each needs another one that does.
enum class Stuck : std::uint8_t {
  none,
  deadlock,  // even if the processes that are gone were still there
  gone,      // only because some are gone
  possibly,  // a deadlock, if all uncertain waits hold
};

class HangFindings {
 public:
  explicit HangFindings(const Job& job);

 protected:
  using Json = nlohmann::ordered_json;

  bool is_waiting(std::size_t i) const;
  bool any_waits() const;
  std::string function(CallIndex call) const;
  // A thread of it outside calls if there is one, else its first; nullptr: it has no rank.
  const Sitter* sitter_of(ProcessIndex process) const;
  Json number_of(ProcessIndex process) const;
  // The first 64 ranks of a group that a wait is for.
  Json ranks_json(const RankGroup& group) const { return named(ranks_of(group), kNone); }
  Json ranks_json(const OpenWait& wait) const;
  bool is_stuck(ProcessIndex process) const { return found_.stuck[process.place()]; }
  // Processes along a cycle, in its order.
  std::vector<ProcessIndex> processes_of(const std::vector<WaitNode>& cycle) const;

  const Job& job_;
  const Sitters sitters_;
  const SeatWords words_;
  NeedFinder finder_;
  std::vector<Waiting> waiting_;  // of each of the sitters
  Stuck stuck_ = Stuck::none;
  Deadlock found_;
  std::vector<ChainEnd> ends_;  // the final causes of waits, certain or not

 private:
  // One more than are named, because `but` is left out.
  std::vector<std::int64_t> ranks_of(const RankGroup& group) const;
  Json named(std::vector<std::int64_t> ranks, ProcessIndex but) const;
  void find_stuck(const WaitGraph& sure, const WaitGraph& all);
  bool any_stuck(const Deadlock& deadlock) const;

  // For groups that waits are for: many waits share one group.
  mutable std::map<const RankGroup*, std::vector<std::int64_t>> known_ranks_;
};

}  // namespace uctrace::merge

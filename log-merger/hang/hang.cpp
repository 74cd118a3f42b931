#include "log-merger/hang/hang.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "log-merger/hang/hang_lists.hpp"
#include "log-merger/hang/rank_words.hpp"
#include "log-merger/model/number_runs.hpp"

namespace uctrace::merge {

namespace {

using Json = nlohmann::ordered_json;

class HangDescriber : HangLists {
 public:
  using HangLists::HangLists;

  Json json() {
    Json ranks = Json::array();
    for (std::size_t i = 0; i < sitters_.all.size(); ++i) ranks.push_back(rank_json(i));
    const Json cycles = cycles_json(), mismatched = mismatched_json(), nearest = nearest_json();
    Json hang = {{"state", name_of(state_of(job_))},
                 {"verdict", verdict()},
                 {"summary", summary(mismatched, nearest)},
                 {"ranks", std::move(ranks)},
                 {"cycle", cycles.empty() ? Json::array() : cycles.front()},
                 {"cycles", cycles},
                 {"blocked_on", blocked_on_json()},
                 {"mismatched", mismatched},
                 {"nearest_unmatched", nearest},
                 {"unknown", unknown()}};
    return hang;
  }

 private:
  const char* verdict() const {
    switch (stuck_) {
      case Stuck::deadlock:
        return "deadlock";
      case Stuck::gone:
        return "waits for a rank that is gone";
      case Stuck::possibly:
        return "possible deadlock";
      case Stuck::none:
        break;
    }
    if (any_waits()) return "waiting";
    return without_instants().empty() ? "no rank waits" : "not known";
  }

  std::string cycle_words(const std::vector<ProcessIndex>& processes) const {
    const auto rank = [&](ProcessIndex process) {
      return job_.run.processes[process.place()].rank;
    };
    if (processes.size() == 1) return fmt::format("rank {} waits for itself", rank(processes[0]));
    std::string chain;
    constexpr std::size_t kLinks = 16;
    for (std::size_t i = 0; i < std::min(kLinks, processes.size()); ++i) {
      chain += fmt::format("{} -> ", rank(processes[i]));
    }
    if (processes.size() > kLinks) chain += "... -> ";
    return fmt::format("ranks wait for each other in a cycle: {}{}", chain,
                       rank(processes.front()));
  }

  std::vector<std::string> summary(const Json& mismatched, const Json& nearest) const {
    constexpr std::size_t kSummaryRows = 3;  // of each list
    std::vector<std::string> lines;
    for (const std::vector<WaitNode>& cycle : found_.cycles) {
      lines.push_back(fmt::format("{}: {}", verdict(), cycle_words(processes_of(cycle))));
    }
    for (const Json& end : blocked_on_json()) {
      const std::size_t waiting = end["waiting"].get<std::size_t>();
      const bool all_others = end["all"].get<bool>() && waiting + 1 == job_.logs.size();
      lines.push_back(fmt::format("{} wait{} for {}",
                                  all_others && waiting > 1
                                      ? "all others"
                                      : fmt::format("{} rank{}", waiting, waiting == 1 ? "" : "s"),
                                  waiting == 1 ? "s" : "", end["text"].get<std::string>()));
    }
    for (const Json& list : {mismatched, nearest}) {
      std::size_t said = 0;
      for (const Json& row : list) {
        // For a rank that will go on, a message for a later receive is not a mistake.
        if (row.contains("stuck") && !row["stuck"].get<bool>()) continue;
        if (said++ == kSummaryRows) break;
        lines.push_back(row["text"].get<std::string>());
      }
    }
    if (lines.empty()) {
      lines.push_back(any_waits() ? "ranks wait, as below" : words_for_no_wait());
    }
    return lines;
  }

  std::string words_for_no_wait() const {
    const std::string why = without_instants();
    return why.empty() ? "no rank waits for another" : "who waits for whom is not known: " + why;
  }

  // Of any rank.
  std::string without_instants() const {
    for (const Sitter& sitter : sitters_.all) {
      if (std::string why = without_instants(sitter); !why.empty()) return why;
    }
    return "";
  }

  // Each reason once, with the ranks that it is about.
  std::vector<std::string> unknown() const {
    std::map<std::string, RankGroup> reasons;
    std::set<const RankGroup*> groups;
    std::set<std::int64_t> missing;  // ranks
    // More ranks of one group.
    std::uint64_t unnamed = 0;
    for (std::size_t i = 0; i < sitters_.all.size(); ++i) {
      const Sitter& sitter = sitters_.all[i];
      const auto add = [&](const std::string& why) {
        std::vector<ProcessIndex>& processes = reasons[why].processes;
        if (!why.empty() && (processes.empty() || processes.back() != sitter.process)) {
          processes.push_back(sitter.process);
        }
      };
      add(waiting_[i].unknown);
      add(why_incomplete(job_, sitter.process));
      add(without_instants(sitter));
      if (words_.may_ask_for_partitions(sitter)) {
        add("calls of MPI_Parrived that find nothing have no records: it may be in a loop of them");
      }
      for (const OpenWait& wait : waiting_[i].waits) {
        if (!groups.insert(wait.of.get()).second) continue;
        for (const std::int64_t rank : wait.of->without_log) missing.insert(rank);
        unnamed = std::max(unnamed, wait.of->missing - wait.of->without_log.size());
      }
    }
    std::vector<std::string> found;
    reasons.erase("");
    for (const auto& [why, ranks] : reasons) {
      found.push_back(fmt::format("{}: {}", rank_words(job_, ranks, false), why));
    }
    if (!missing.empty()) found.push_back(missing_words(missing, unnamed));
    return found;
  }

  std::string without_instants(const Sitter& sitter) const {
    const bool has_none =
        !sitters_.gone[sitter.process] && !has_newest_instant(job_.logs[sitter.process]);
    return has_none ? "recorded without a helper, so the log does not say until when a rank was in "
                      "its call, and what the ranks did at one instant is not known"
                    : "";
  }

  static std::string missing_words(const std::set<std::int64_t>& missing, std::uint64_t unnamed) {
    const std::vector<std::int64_t> ranks(missing.begin(), missing.end());
    const bool one = ranks.size() + unnamed == 1;
    return fmt::format("{} {} left no log: {} taken for {} that may go on", one ? "rank" : "ranks",
                       number_runs(ranks, unnamed), one ? "it is" : "they are",
                       one ? "one" : "some");
  }
};

}  // namespace

Json hang_json(const Job& job) {
  if (state_of(job) != HangState::finished) return HangDescriber(job).json();
  Json ended = {
      {"state", "finished"}, {"verdict", "ended"}, {"summary", {"no rank hangs: the job ended"}}};
  for (const char* list :
       {"ranks", "cycle", "cycles", "blocked_on", "mismatched", "nearest_unmatched", "unknown"}) {
    ended[list] = Json::array();
  }
  return ended;
}

}  // namespace uctrace::merge

#include "log-merger/hang/hang.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "log-merger/hang/hang_lists.hpp"
#include "log-merger/hang/rank_words.hpp"

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
    if (state_of(job_) == HangState::finished) return "ended";
    if (is_sure_) return "deadlock";
    if (any_stuck(found_)) return "possible deadlock";
    return any_waits() ? "waiting" : "no rank waits";
  }

  std::vector<std::string> summary(const Json& mismatched, const Json& nearest) const {
    constexpr std::size_t kSummaryRows = 3;  // of each list
    std::vector<std::string> lines;
    for (const std::vector<WaitNode>& cycle : found_.cycles) {
      const std::vector<ProcessIndex> processes = processes_of(cycle);
      std::string chain;
      constexpr std::size_t kLinks = 16;
      for (std::size_t i = 0; i < std::min(kLinks, processes.size()); ++i) {
        chain += fmt::format("{} -> ", job_.run.processes[processes[i].place()].rank);
      }
      if (processes.size() > kLinks) chain += "... -> ";
      chain += fmt::format("{}", job_.run.processes[processes.front().place()].rank);
      lines.push_back(fmt::format("{}: ranks wait for each other in a circle: {}",
                                  is_sure_ ? "deadlock" : "possible deadlock", chain));
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
      for (std::size_t i = 0; i < std::min(kSummaryRows, list.size()); ++i) {
        lines.push_back(list[i]["text"].get<std::string>());
      }
    }
    if (lines.empty()) {
      lines.push_back(any_waits() ? "ranks wait, as below" : "no rank waits for another");
    }
    return lines;
  }

  std::vector<std::string> unknown() const {
    std::set<std::string> found;
    for (std::size_t i = 0; i < sitters_.all.size(); ++i) {
      const Sitter& sitter = sitters_.all[i];
      const std::string rank = rank_words(job_, sitter.process);
      if (!waiting_[i].unknown.empty()) found.insert(rank + ": " + waiting_[i].unknown);
      if (const std::string why = why_incomplete(job_, sitter.process); !why.empty()) {
        found.insert(rank + ": " + why);
      }
      if (!sitters_.gone[sitter.process] &&
          job_.logs[sitter.process].file.page().chunk_bytes != 0) {
        found.insert(rank +
                     ": recorded without a helper, so its log does not say until when it was "
                     "in its call, and what the ranks did at one instant is not known");
      }
      for (const OpenWait& wait : waiting_[i].waits) {
        for (const std::int32_t missing : wait.of->without_log) {
          found.insert(
              fmt::format("rank {} left no log: it is taken for one that may go on", missing));
        }
      }
    }
    return {found.begin(), found.end()};
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

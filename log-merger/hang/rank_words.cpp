#include "log-merger/hang/rank_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "log-merger/model/number_runs.hpp"

namespace uctrace::merge {

std::string rank_words(const Job& job, const RankGroup& group, bool any) {
  const auto worlds_differ = [&] {
    return std::any_of(job.logs.begin(), job.logs.end(),
                       [&](const ProcessLog& log) { return log.world != kNone && log.world != 0; });
  };
  struct Ranks {
    std::vector<std::int64_t> named;
    std::uint64_t unnamed = 0;
  };
  std::map<Index, Ranks> by_world;
  std::size_t without_rank = 0;
  for (const ProcessIndex process : group.processes) {
    const std::int32_t rank = job.run.processes[process.place()].rank;
    if (rank >= 0) by_world[job.logs[process].world].named.push_back(rank);
    without_rank += rank < 0;
  }
  if (group.missing > 0) {
    Ranks& ranks = by_world.empty() ? by_world[0] : by_world.begin()->second;
    ranks.named.insert(ranks.named.end(), group.without_log.begin(), group.without_log.end());
    ranks.unnamed += group.missing - group.without_log.size();
  }
  std::string text;
  std::uint64_t count = 0;
  for (auto& [world, ranks] : by_world) {
    std::sort(ranks.named.begin(), ranks.named.end());
    const std::uint64_t all = ranks.named.size() + ranks.unnamed;
    count += all;
    text += fmt::format("{}{} {}", text.empty() ? "" : " and ", all == 1 ? "rank" : "ranks",
                        number_runs(ranks.named, ranks.unnamed));
    if (by_world.size() > 1 || (world > 0 && worlds_differ())) {
      text += fmt::format(" of world {}", world);
    }
  }
  if (without_rank > 0) text += text.empty() ? "a process without a rank" : " and others";
  if (!group.complete) text += text.empty() ? "a rank that is not known" : " and others";
  return any && count > 1 ? "any of " + text : text;
}

std::string rank_words(const Job& job, ProcessIndex process) {
  RankGroup group;
  group.processes.push_back(process);
  return rank_words(job, group, false);
}

std::string ordinal(std::size_t number) {
  const std::size_t tens = number % 100, ones = number % 10;
  const bool teen = tens >= 11 && tens <= 13;
  return fmt::format("{}{}", number,
                     teen        ? "th"
                     : ones == 1 ? "st"
                     : ones == 2 ? "nd"
                     : ones == 3 ? "rd"
                                 : "th");
}

}  // namespace uctrace::merge

#include "log-merger/hang/rank_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace uctrace::merge {

std::string number_runs(const std::vector<std::int32_t>& numbers) {
  constexpr std::size_t kRuns = 8;
  std::string text;
  std::size_t runs = 0;
  for (std::size_t i = 0; i < numbers.size(); ++runs) {
    if (runs == kRuns) return text + fmt::format(" and {} more", numbers.size() - i);
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (last > i) text += fmt::format("{}{}", last == i + 1 ? ", " : "-", numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string rank_words(const Job& job, const RankGroup& group, bool any) {
  const auto worlds_differ = [&] {
    return std::any_of(job.logs.begin(), job.logs.end(),
                       [&](const ProcessLog& log) { return log.world != kNone && log.world != 0; });
  };
  std::map<Index, std::vector<std::int32_t>> by_world;
  for (const ProcessIndex process : group.processes) {
    by_world[job.logs[process].world].push_back(job.run.processes[process.place()].rank);
  }
  if (!group.without_log.empty()) {
    std::vector<std::int32_t>& ranks = by_world[by_world.empty() ? 0 : by_world.begin()->first];
    ranks.insert(ranks.end(), group.without_log.begin(), group.without_log.end());
  }
  std::string text;
  std::size_t count = 0;
  for (auto& [world, ranks] : by_world) {
    std::sort(ranks.begin(), ranks.end());
    count += ranks.size();
    text += fmt::format("{}{} {}", text.empty() ? "" : " and ",
                        ranks.size() == 1 ? "rank" : "ranks", number_runs(ranks));
    if (by_world.size() > 1 || (world > 0 && worlds_differ())) {
      text += fmt::format(" of world {}", world);
    }
  }
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

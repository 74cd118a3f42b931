#include "log-merger/findings/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "log-merger/findings/rules.hpp"

namespace uctrace::findings {
namespace {

using Rule = void (*)(const Facts&, Found&);
constexpr Rule kRules[] = {
    job_without_ucx,         identities_violated,    records_dropped,      messages_unmatched,
    clocks_contradict,       tcp_within_host,        no_single_copy,       staged_through_host,
    memory_mistaken,         one_card_carries_most,  card_far_from_gpu,    switch_is_costly,
    first_messages_are_late, registration_is_long,   connections_are_long, many_tiny_messages,
    ranks_unbalanced,        rank_makes_others_wait, settings_differ,
};

}  // namespace

std::vector<Finding> findings_of(const RowSource& source) {
  const Facts facts = facts_of(source);
  Found found;
  for (const Rule rule : kRules) rule(facts, found);
  std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) {
    return std::make_tuple(!a.doubts_records, -a.share) <
           std::make_tuple(!b.doubts_records, -b.share);
  });
  return found;
}

std::string command_of(const Finding& finding, const std::string& folder) {
  if (folder.empty()) return "uctrace " + finding.command;
  const std::size_t blank = finding.command.find(' ');
  if (blank == std::string::npos) return fmt::format("uctrace {} {}", finding.command, folder);
  return fmt::format("uctrace {} {}{}", finding.command.substr(0, blank), folder,
                     finding.command.substr(blank));
}

std::string advice_of(const Finding& finding, const std::string& folder) {
  constexpr std::string_view kFolder = " DIR";
  std::string advice = finding.advice;
  const std::size_t at = advice.find(kFolder);
  if (at != std::string::npos) {
    advice.replace(at, kFolder.size(), folder.empty() ? "" : " " + folder);
  }
  return advice;
}

}  // namespace uctrace::findings

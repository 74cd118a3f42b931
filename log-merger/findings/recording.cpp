// Whether the records are complete, and whether they contain any use of UCX.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "log-merger/findings/rules.hpp"
#include "log-merger/model/quantities.hpp"
#include "log-merger/summaries/info_members.hpp"
#include "log-merger/summaries/run_facts.hpp"
#include "log-merger/summaries/settings.hpp"

namespace uctrace::findings {
namespace {

using nlohmann::ordered_json;
using summaries::member;
using summaries::text_of;

// The setting, if any, that keeps Open MPI from using UCX.
std::string pml_words(const Run& run) {
  for (const Setting& setting : run.settings) {
    if (!is_setting(setting.from) || run.texts[setting.name] != "OMPI_MCA_pml") continue;
    return fmt::format(" (pml={}{})", run.texts[setting.value],
                       setting.from == SettingFrom::mpi_file ? ", from a file of parameters" : "");
  }
  return "";
}

}  // namespace

void job_without_ucx(const Facts& facts, Found& found) {
  const ordered_json& events = member(facts.info, "events");
  const std::uint64_t mpi = count_of(events, "mpi");
  const ordered_json& layers = member(facts.info, "layers");
  const auto state = [&](const char* layer) { return text_of(member(layers, layer), "state"); };
  if (mpi == 0 || facts.messages > 0 || count_of(events, "ucp") > 0 ||
      count_of(events, "uct") > 0 || count_of(events, "dropped") > 0 || state("ucp") == "off" ||
      state("uct") == "off") {
    return;
  }
  found.push_back({.rule = "job-without-ucx",
                   .what = fmt::format("The job made {} MPI calls and used no UCX{}: what carried "
                                       "its data is not recorded",
                                       mpi, pml_words(facts.run)),
                   .advice = "with Open MPI add --mca pml ucx --mca pml_ucx_tls any --mca "
                             "pml_ucx_devices any; `uctrace check -- COMMAND` prints your line so",
                   .command = "info --list layers",
                   .evidence = {{"mpi_calls", mpi}},
                   .share = 1,
                   .doubts_records = true});
}

void identities_violated(const Facts& facts, Found& found) {
  std::vector<std::string> names;
  for (const Identity& identity : facts.run.identities) {
    if (identity.result == Verdict::violated) names.push_back(identity.name);
  }
  if (names.empty()) return;
  found.push_back(
      {.rule = "identities-violated",
       .what = fmt::format("{} of {} accounting identities are violated ({}): two "
                           "counts of the same thing differ",
                           names.size(), facts.run.identities.size(), fmt::join(names, ", ")),
       .advice = "do not trust the numbers that they are about; a log may be damaged, "
                 "or uctrace has a defect",
       .command = "info --list identities",
       .evidence = {{"violated", names}},
       .share = 1,
       .doubts_records = true});
}

void records_dropped(const Facts& facts, Found& found) {
  const ordered_json& events = member(facts.info, "events");
  const std::uint64_t dropped = count_of(events, "dropped");
  if (dropped == 0) return;
  const std::uint64_t kept =
      count_of(events, "uct") + count_of(events, "ucp") + count_of(events, "mpi");
  std::vector<std::string> causes;
  for (const auto& [cause, count] : member(events, "dropped_by_cause").items()) {
    if (count.is_number_unsigned()) {
      causes.push_back(fmt::format("{} {}", cause, count.get<std::uint64_t>()));
    }
  }
  const double share = static_cast<double>(dropped) / static_cast<double>(dropped + kept);
  found.push_back(
      {.rule = "records-dropped",
       .what = fmt::format("{} records were dropped, {:.1f} % of all ({}): sums are too "
                           "low by what they told",
                           dropped, 100 * share, fmt::join(causes, ", ")),
       .advice = "leave a core of each host free for uctrace, record fewer layers "
                 "(--layers), or let the program wait (--never-drop)",
       .command = "info",
       .evidence = {{"dropped", dropped},
                    {"recorded", kept},
                    {"by_cause", member(events, "dropped_by_cause")}},
       .share = share,
       .doubts_records = true});
}

void messages_unmatched(const Facts& facts, Found& found) {
  const ordered_json& messages = member(facts.info, "messages");
  const std::uint64_t sends = count_of(messages, "unmatched_sends"),
                      receives = count_of(messages, "unmatched_receives"),
                      ambiguous = count_of(messages, "ambiguous"),
                      sent = count_of(messages, "sent");
  if (sends + receives + ambiguous == 0) return;
  std::vector<std::string> parts;
  if (sends > 0) parts.push_back(fmt::format("{} sends were never received", sends));
  if (receives > 0) parts.push_back(fmt::format("{} receives have no send in the logs", receives));
  if (ambiguous > 0) {
    parts.push_back(fmt::format("of {} messages several receives could be theirs", ambiguous));
  }
  const std::uint64_t all = std::max(sent, sends + ambiguous) + receives;
  found.push_back(
      {.rule = "messages-unmatched",
       .what = fmt::format("{}", fmt::join(parts, "; ")),
       .advice = "a send that nobody receives is often a mistake of the program; a "
                 "receive without a send, a process that was not recorded",
       .command = ambiguous > 0 && sends + receives == 0 ? "messages --match ambiguous"
                                                         : "messages --match unmatched",
       .evidence = {{"unmatched_sends", sends},
                    {"unmatched_receives", receives},
                    {"ambiguous", ambiguous}},
       .share = static_cast<double>(sends + receives + ambiguous) / static_cast<double>(all),
       .doubts_records = true});
}

void clocks_contradict(const Facts& facts, Found& found) {
  const ordered_json& clock = member(facts.info, "clock");
  const std::uint64_t violations = count_of(clock, "violations");
  const bool only_wall_clock = text_of(clock, "hosts_aligned_by") == "wall clock";
  if (violations == 0 && !only_wall_clock) return;
  found.push_back(
      {.rule = "clocks-contradict",
       .what = violations > 0
                   ? fmt::format("{} messages end before they start, by more than the clocks of "
                                 "their hosts may be off: times between hosts are wrong",
                                 violations)
                   : "The clocks of hosts were not measured against each other: times between "
                     "hosts are as good as the site's time service, and so are latencies and waits",
       .advice = violations > 0 ? "synchronise the clocks (chrony, PTP) and record again"
                                : "put `uctrace record` in front of the launcher: it then measures "
                                  "the clocks of an MPI job",
       .command = "info",
       .evidence = {{"violations", violations},
                    {"hosts_aligned_by", member(clock, "hosts_aligned_by")},
                    {"max_error_ns", member(clock, "max_error_ns")}},
       .share = facts.messages > 0 ? std::min(1.0, static_cast<double>(violations) /
                                                       static_cast<double>(facts.messages))
                                   : 0,
       .doubts_records = true});
}

}  // namespace uctrace::findings

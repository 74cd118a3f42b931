#include "log-merger/summaries/run_facts.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <set>
#include <vector>

#include "log-merger/model/json_text.hpp"
#include "log-merger/summaries/info_members.hpp"

namespace uctrace {

using nlohmann::ordered_json;

namespace summaries {

ordered_json parsed_info(const Run& run) {
  ordered_json info = ordered_json::parse(run.info_json, nullptr, false);
  return info.is_object() ? info : ordered_json::object();
}

std::string text_of(const ordered_json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || object[key].is_null()) return "";
  const ordered_json& value = object[key];
  if (value.is_number_float()) return fmt::format("{:.1f}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : dump(value);
}

const ordered_json& member(const ordered_json& object, const char* key) {
  static const ordered_json kNull;
  return object.is_object() && object.contains(key) ? object[key] : kNull;
}

}  // namespace summaries

using summaries::member;
using summaries::parsed_info;
using summaries::text_of;

namespace {

std::string utc(std::uint64_t realtime_ns) {
  if (realtime_ns == 0) return "";
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(static_cast<std::time_t>(realtime_ns / 1'000'000'000)));
}

// "Open MPI v4.1.4, package: ..." -> "Open MPI v4.1.4".
std::string library_name(std::string version_line) {
  version_line.erase(std::min(version_line.find(','), version_line.size()));
  std::replace(version_line.begin(), version_line.end(), '\t', ' ');
  return version_line;
}

}  // namespace

RunFacts facts_of(const Run& run) {
  const ordered_json info = parsed_info(run);
  RunFacts facts{
      .id = run.run_id,
      .command = run.command,
      .mpi = library_name(text_of(member(info, "mpi"), "library")),
      .ucx = text_of(member(info, "ucx"), "version"),
      .started = utc(run.epoch_realtime_ns),
      .duration_ns = static_cast<std::uint64_t>(std::max(run.last_ns, last_instant(run))),
      .processes = run.processes.size()};
  std::set<TextId> hosts;
  for (const Process& process : run.processes) hosts.insert(process.host);
  facts.hosts = hosts.size();
  // The run knows of ranks without a log, too.
  const ordered_json& complete = member(info, "complete");
  facts.complete = (!complete.is_boolean() || complete.get<bool>()) &&
                   std::all_of(run.processes.begin(), run.processes.end(),
                               [](const Process& process) { return process.complete; });
  return facts;
}

ordered_json clock_error_ns(const Run& run) {
  return member(member(parsed_info(run), "clock"), "max_error_ns");
}

std::string recording_sentence(const Run& run) {
  return text_of(member(parsed_info(run), "recording"), "sentence");
}

IdentityCount count_identities(const Run& run) {
  IdentityCount count;
  for (const Identity& identity : run.identities) {
    switch (identity.result) {
      case Verdict::holds:
        ++count.holds;
        break;
      case Verdict::violated:
        ++count.violated;
        break;
      case Verdict::incomplete:
        ++count.incomplete;
    }
  }
  return count;
}

std::string damage_sentence(const Run& run) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> logs;
  std::set<std::string> known;
  const ordered_json info = parsed_info(run);
  for (const char* list : {"damaged", "impossible", "contradictions"}) {
    for (const ordered_json& found : member(member(info, "folder"), list)) {
      const std::string log = std::filesystem::path(text_of(found, "log")).filename().string();
      if (known.insert(log).second) logs.push_back(log);
    }
  }
  if (logs.empty()) return "";
  const std::size_t more = logs.size() - std::min(logs.size(), kNamed);
  const bool one = logs.size() == 1;
  logs.resize(logs.size() - more);
  return fmt::format("{}{} {} damaged or contradict{} {}", fmt::join(logs, ", "),
                     more != 0 ? fmt::format(" and {} more logs", more) : "", one ? "is" : "are",
                     one ? "s" : "", one ? "itself" : "themselves");
}

std::string identities_line(const Run& run) {
  const IdentityCount count = count_identities(run);
  if (run.identities.empty()) return "identities: none were checked";
  if (count.holds == run.identities.size())
    return fmt::format("identities: all {} hold", count.holds);
  std::vector<std::string> open;
  for (const Identity& identity : run.identities) {
    if (identity.result == Verdict::holds) continue;
    open.push_back(fmt::format("{} {} ({} against {})", identity.name, name_of(identity.result),
                               identity.left, identity.right));
  }
  const std::string damage = count.violated != 0 ? damage_sentence(run) : "";
  return fmt::format("identities: {} of {} hold; {}{}", count.holds, run.identities.size(),
                     fmt::join(open, ", "),
                     damage.empty() ? "" : "; what is violated may be so because " + damage);
}

ordered_json identities_json(const Run& run) {
  ordered_json identities = ordered_json::array();
  for (const Identity& identity : run.identities) {
    identities.push_back({{"name", identity.name},
                          {"scope", identity.scope},
                          {"statement", identity.statement},
                          {"left", identity.left},
                          {"right", identity.right},
                          {"result", name_of(identity.result)}});
  }
  return identities;
}

}  // namespace uctrace

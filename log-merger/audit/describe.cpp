// Run::info_json: the facts of `uctrace info --format json`. docs/info.md documents every key.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "event-log/format/file_systems.hpp"
#include "event-log/reader/plain_text.hpp"
#include "log-merger/audit/describe_faults.hpp"
#include "log-merger/audit/describe_findings.hpp"
#include "log-merger/audit/describe_gpus.hpp"
#include "log-merger/audit/describe_libraries.hpp"
#include "log-merger/audit/describe_network.hpp"
#include "log-merger/audit/describe_windows.hpp"
#include "log-merger/audit/totals.hpp"
#include "log-merger/folder/launcher_line.hpp"
#include "log-merger/hang/hang.hpp"
#include "log-merger/load/ucx_mode.hpp"
#include "log-merger/mpi/open_calls.hpp"
#include "log-merger/peers/unlogged_peers.hpp"
#include "ucx-facts/releases.hpp"

namespace uctrace::merge {

namespace {

using Json = nlohmann::ordered_json;

Json link_json(const LinkTotals& t) {
  return {
      {"exact", t.exact}, {"inferred", t.inferred}, {"ambiguous", t.ambiguous}, {"none", t.none}};
}

Json layer_json(const Job& job, std::size_t layer) {
  if (layer == static_cast<std::size_t>(log::Layer::gpu)) {
    return gpu_layer_json(job);
  }
  bool on = false, off = false;
  std::string why;
  for (const ProcessLog& log : job.logs) {
    const log::LayerState state = log.file.page().layers[layer];
    on = on || state == log::LayerState::on;
    off = off || log::is_off(state);
    if (state == log::LayerState::unwanted) {
      why = "by --layers";
    }
    for (const auto& [fault, detail] : log.faults) {
      if (static_cast<std::size_t>(fault.layer) == layer && why.empty()) {
        why = fmt::format("{}: {}", name_of(static_cast<log::FaultCode>(fault.head.a)), detail);
      }
    }
  }
  Json json{{"state", off ? "off" : on ? "on" : "unused"}, {"why", nullptr}};
  if (!why.empty()) {
    json["why"] = why;
  }
  return json;
}

Json processes_json(const Job& job) {
  const auto open = find_open(job);
  Json list = Json::array();
  for (std::size_t i = 0; i < job.run.processes.size(); ++i) {
    const Process& p = job.run.processes[i];
    Json rank = nullptr;
    if (p.rank >= 0) {
      rank = p.rank;
    }
    Json rank_from = nullptr;
    if (p.rank >= 0) {
      rank_from = job.logs[i].file.page().world_rank >= 0 ? "mpi" : "launcher";
    }
    list.push_back({{"rank", rank},
                    {"rank_from", rank_from},
                    {"host", job.run.texts[p.host]},
                    {"pid", p.pid},
                    {"key", job.run.texts[p.key]},
                    {"complete", p.complete},
                    {"exit", job.run.texts[p.exit]},
                    {"events", p.events},
                    {"log_bytes", p.log_bytes},
                    {"in_calls", in_calls_json(job, open[i])},
                    {"open_receives", open_receives_json(job, open[i])}});
  }
  return list;
}

// By the version and the environment.
bool proto_v2(const ProcessLog& log) {
  const auto [major, minor] = log.ucp_library().number();
  const ucx::Release* const release = ucx::find_release(major, minor);
  bool v2 = release != nullptr
                ? release->protocols_v2
                : std::pair(major, minor) > std::pair(ucx::kMajor, ucx::kNewest.minor);
  for (const std::string& variable : log.environment) {
    constexpr std::string_view kName = "UCX_PROTO_ENABLE=";
    if (variable.starts_with(kName)) {
      const char value = variable.size() > kName.size() ? variable[kName.size()] : 'n';
      v2 = value == 'y' || value == 'Y' || value == '1' || value == 't';
    }
  }
  return v2;
}

// By observation: with protocols v2, posts carry libucp's own names. With v1 no post has one,
// although the names are known. If neither was seen, the configuration decides.
bool uses_protocols_v2(const Job& job, const Found& found) {
  if (found.protocols_told != 0) return true;
  return found.protocols_untold == 0 && std::any_of(job.logs.begin(), job.logs.end(), proto_v2);
}

template <typename Field>
std::string first_of(const Job& job, Field field) {
  for (const ProcessLog& log : job.logs) {
    if (std::string text = std::invoke(field, log); !text.empty()) {
      return text;
    }
  }
  return {};
}

Json dropped_json(const Job& job) {
  static constexpr const char* kKinds[] = {"uct", "ucp", "mpi", "definition"};
  Json json;
  for (std::size_t k = 0; k < log::kDropKinds; ++k) {
    std::uint64_t sum = 0;
    for (const ProcessLog& log : job.logs) {
      sum += log.dropped(static_cast<log::DropKind>(k));
    }
    json[kKinds[k]] = sum;
  }
  return json;
}

// Causes that occurred.
Json dropped_by_cause_json(const Job& job) {
  const DropCounts counts = total_dropped_by_cause(job);
  Json json = Json::object();
  for (const log::DropCause cause : causes_in(counts)) {
    json[uctrace::name_of(cause)] = counts[static_cast<std::size_t>(cause)];
  }
  return json;
}

// For processes that were to wait instead of dropping records; empty: there are none.
Json waits_json(const Job& job) {
  std::uint64_t processes = 0, waits = 0, waited_ns = 0;
  for (const ProcessLog& log : job.logs) {
    const log::ProcessPage& page = log.file.page();
    processes += page.never_drops != 0;
    waits += page.waits;
    waited_ns += page.waited_ns;
  }
  if (processes == 0) return Json::object();
  return {{"processes", processes}, {"waits", waits}, {"waited_ns", waited_ns}};
}

// The launcher's, else that of the first process: rank 0.
std::string command_of(const Job& job) {
  if (!job.run.command.empty()) {
    return job.run.command;
  }
  std::vector<std::string> words;
  std::istringstream lines(first_of(job, &ProcessLog::command_line));
  for (std::string word; std::getline(lines, word);) {
    words.push_back(word);
  }
  return shell_line(words);
}

const char* word_of(log::Storage storage) {
  switch (storage) {
    case log::Storage::mapped:
      return "mapped";
    case log::Storage::drained:
      return "drained";
    case log::Storage::unknown:
      break;
  }
  return "unknown";
}

Json pending_json(const PendingTotals& pending, const log::LaneCounters& counted) {
  return {{"added", counted.uct_pending_added},
          {"dispatched", pending.dispatched},
          {"purged", pending.purged},
          {"queued", pending.queued},
          {"vanished", pending.vanished},
          {"refused", counted.uct_pending_refused},
          {"untracked", counted.uct_pending_untracked + pending.lost_sight}};
}

Json kinds_json(const Job& job) {
  struct Sum {
    std::uint64_t messages = 0, bytes = 0;
  };
  std::map<MessageKind, Sum> sums;
  for (const Message& message : job.run.messages) {
    Sum& sum = sums[message.kind];
    ++sum.messages;
    sum.bytes += message.bytes;
  }
  Json json;
  for (const MessageKind kind : kMessageKinds) {
    json[uctrace::name_of(kind)] = {{"messages", sums[kind].messages}, {"bytes", sums[kind].bytes}};
  }
  return json;
}

// Of the program.
SendTotals all_sends(const Found& found) {
  SendTotals sum;
  for (const SendTotals* sends :
       {&found.sends, &found.am_sends, &found.stream_sends, &found.one_sided}) {
    sum += *sends;
  }
  return sum -= found.tool_sends;
}

// Call stacks: the processes' counts, and the results.
Json stacks_json(const Job& job, const log::LaneCounters& counted) {
  static constexpr const char* kModes[] = {"off", "mpi", "all"};
  static constexpr const char* kUnwinders[] = {"none", "libunwind", "libgcc"};
  std::size_t mode = 0;
  std::set<std::string> unwinders;
  for (const ProcessLog& log : job.logs) {
    const log::ProcessPage& page = log.file.page();
    mode = std::max(mode, static_cast<std::size_t>(page.stacks));
    if (page.stacks == log::StackMode::off) continue;
    const auto unwinder = static_cast<std::size_t>(page.unwinder);
    unwinders.insert(unwinder < std::size(kUnwinders) ? kUnwinders[unwinder] : "unknown");
  }
  return {{"mode", mode < std::size(kModes) ? kModes[mode] : "unknown"},
          {"unwinder",
           unwinders.empty() ? Json(nullptr) : Json(fmt::format("{}", fmt::join(unwinders, ", ")))},
          {"captured", counted.stacks_captured},
          {"unwound", counted.stacks_unwound},
          {"skipped", counted.stacks_skipped},
          {"truncated", counted.stacks_truncated},
          {"distinct", job.run.stacks.size()},
          {"call_sites", job.run.call_sites.size()},
          {"unresolved", job.unresolved_frames}};
}

Json messages_json(const Job& job, const Found& found, const log::LaneCounters& counted) {
  const SendTotals sent = all_sends(found);
  const ReceiveTotals &tag = found.receives, &am = found.am_receives,
                      &stream = found.stream_receives;
  std::uint64_t tool_sends = 0;  // counted also outside windows, like all sends
  for (const ProcessLog& log : job.logs) {
    for (const ToolTraffic& traffic : log.tool_traffic) tool_sends += traffic.sends;
  }
  const ReceiveTotals& tool = found.tool_receives;
  const std::uint64_t unmatched_receives =
      tag.unmatched + am.unmatched + stream.unmatched - tool.unmatched;
  return {
      {"sent", counted.ucp_sends + counted.ucp_am_sends + counted.ucp_stream_sends +
                   counted.ucp_puts + counted.ucp_gets + counted.ucp_atomics - tool_sends},
      {"received", tag.took() + am.took() + stream.took() - tool.took()},
      {"matched", sent.matched},
      {"unmatched", sent.unmatched + unmatched_receives},
      {"ambiguous", sent.ambiguous},
      {"unmatched_sends", sent.unmatched},
      {"unmatched_receives", unmatched_receives},
      {"outside_window", sent.outside + tag.outside + am.outside + stream.outside - tool.outside},
      {"failed", sent.failed + tag.failed + stream.failed - tool.failed},
      {"tool", tool_sends},
      {"unread_stream_bytes", found.streams.unread_bytes},
      {"kinds", kinds_json(job)}};
}

}  // namespace

void describe_run(Job& job, const Found& found) {
  const log::LaneCounters counted = count_counted(job);
  std::set<std::string> hosts, ways, file_systems;
  std::uint64_t log_bytes = 0;
  for (const ProcessLog& log : job.logs) {
    hosts.insert(plain_text(log.file.host()));
    log_bytes += log.file.size_bytes();
    ways.insert(word_of(log.file.page().storage));
    file_systems.insert(log::file_system_of(log.file.page().file_system).name);
  }

  const SendTotals sends = all_sends(found);
  Json info;
  info["complete"] = job_complete(job) && !misses_libraries(job);
  Json uct_ucp = link_json(found.uct_ucp);
  uct_ucp["exact_with_payload"] = found.with_payload.exact;
  uct_ucp["inferred_with_payload"] = found.with_payload.inferred;
  uct_ucp["requests_not_carried"] = counted.ucp_requests_not_carried;
  info["links"] = {{"uct_ucp", uct_ucp},
                   {"uct_mpi", link_json(found.uct_mpi)},
                   {"match",
                    {{"exact", sends.matched - sends.inferred},
                     {"inferred", sends.inferred},
                     {"ambiguous", sends.ambiguous}}}};
  info["events"] = {{"uct", found.uct_operations + found.refused_uct_operations + found.arrivals},
                    {"ucp", found.ucp_operations},
                    {"mpi", found.mpi_calls},
                    {"library", found.library_calls},
                    {"dropped", total_dropped(job)},
                    {"dropped_by_kind", dropped_json(job)},
                    {"dropped_by_cause", dropped_by_cause_json(job)},
                    {"untracked", counted.uct_untracked + counted.ucp_untracked},
                    {"overwritten", total_overwritten(job)},
                    {"outside_window", total_outside(job)}};
  info["uct"] = {{"posted_ok", counted.uct_posted_ok},
                 {"inprogress", counted.uct_inprogress},
                 {"completed", counted.uct_completed},
                 {"outstanding", found.outstanding},
                 {"without_handle", counted.uct_without_handle},
                 {"untracked", counted.uct_untracked},
                 {"errors", counted.uct_errors},
                 {"no_resource", counted.uct_no_resource},
                 {"pending", pending_json(found.pending, counted)},
                 {"tag_receives",
                  {{"posted", counted.uct_tag_receives},
                   {"ended", counted.uct_tag_receives_ended},
                   {"open", found.posted_receives}}},
                 {"attributed_ucp", found.attributed},
                 {"reasons", found.reasons},
                 {"unattributed", found.unattributed},
                 {"unattributed_with_payload", found.unattributed_with_payload}};
  info["windows"] = windows_json(job);
  info["recording"] = recording_json(job);
  info["messages"] = messages_json(job, found, counted);
  info["stacks"] = stacks_json(job, counted);
  for (std::size_t layer = 0; layer < log::kLayers; ++layer) {
    info["layers"][kLayerNames[layer]] = layer_json(job, layer);
  }
  info["libraries"] = libraries_json(job);
  info["gpu"] = gpu_json(job);
  info["gpu_initiated"] = gpu_initiated_json(job);
  info["network"] = network_json(job, found);
  info["faults"] = faults_json(job);
  info["processes"] = processes_json(job);
  info["hang"] = hang_json(job);
  info["peers"] = peers_json(job);
  info["hosts"] = hosts;
  info["clock"] = clock_json(job);
  info["folder"] = folder_json(job);
  if (const Json waits = waits_json(job); !waits.empty()) info["never_drop"] = waits;
  info["log"] = {{"written", fmt::format("{}", fmt::join(ways, ", "))},
                 {"file_system", fmt::format("{}", fmt::join(file_systems, ", "))},
                 {"bytes", log_bytes},
                 {"bytes_per_event", found.events == 0 ? Json(nullptr)
                                                       : Json(static_cast<double>(log_bytes) /
                                                              static_cast<double>(found.events))}};
  const std::string ucx_version =
      first_of(job, [](const ProcessLog& log) { return log.ucp_library().version; });
  const std::string ucx_library =
      first_of(job, [&](const ProcessLog& log) { return job.run.texts[log.ucp_library().path]; });
  const bool v2 = uses_protocols_v2(job, found);
  info["ucx"] = {{"version", or_null(ucx_version)},
                 {"mode", ucx_mode(job)},
                 {"protocols", !ucx_version.empty() ? Json(v2 ? "v2" : "v1") : Json(nullptr)},
                 {"library", or_null(ucx_library)},
                 {"ucp_libraries", ucp_libraries_json(job)},
                 {"uct_libraries", uct_libraries_json(job)}};
  info["mpi"] = {{"library", or_null(first_of(job, &ProcessLog::mpi_library))}};
  job.run.command = command_of(job);
  info["command"] = job.run.command;
  info["job"] = job.logs.empty() ? "" : plain_text(job.logs.front().file.job());
  job.run.info_json = info.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace uctrace::merge

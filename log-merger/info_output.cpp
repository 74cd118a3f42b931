#include "log-merger/info_output.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <set>

#include "log-merger/memory_output.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

ordered_json parsed_info(const Run& run) {
  ordered_json info = ordered_json::parse(run.info_json, nullptr, false);
  return info.is_object() ? info : ordered_json::object();
}

// The value of a member that may be absent, null or of another type: a layer may be off.
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

// Members of an object on one line: "exact 12, inferred 0". What lists hold is told by notes.
std::string members_line(const ordered_json& object) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : object.items()) {
    if (value.is_null() || value.is_array() || (value.is_object() && value.empty())) continue;
    parts.push_back(fmt::format(
        "{} {}", key,
        value.is_object() ? "(" + members_line(value) + ")" : text_of(object, key.c_str())));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::uint64_t last_instant(const Run& run) {
  std::int64_t last = 0;
  for (const Message& message : run.messages) last = std::max(last, message.t_end_ns);
  for (const MpiCallRow& call : run.mpi_calls) last = std::max(last, call.t_end_ns);
  for (const UcpOperationRow& row : run.ucp_operations) last = std::max(last, row.t_end_ns);
  for (const Transfer& transfer : run.transfers) {
    last = std::max({last, transfer.t_end_ns, transfer.t_complete_ns});
  }
  return static_cast<std::uint64_t>(last);
}

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

// Of each host whose devices' distances are not known; of the others how many there are.
std::vector<std::string> topology_texts(const ordered_json& info) {
  std::vector<std::string> texts;
  std::size_t taken = 0;
  const auto text = [](const ordered_json& value) {
    return value.is_string() ? value.get<std::string>() : "";
  };
  for (const ordered_json& host : member(member(info, "gpu"), "topology")) {
    if (member(host, "taken") == true) {
      ++taken;
    } else {
      texts.push_back(fmt::format("not taken on {}: {}", text(member(host, "host")),
                                  text(member(host, "why"))));
    }
  }
  if (taken > 0) {
    texts.push_back(fmt::format("taken on {} host{}", taken, taken == 1 ? "" : "s"));
  }
  return texts;
}

void write_facts(std::ostream& out, const Run& run, const ordered_json& info, Colour colour) {
  const RunFacts facts = facts_of(run);
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) out << fmt::format("{:<10} {}\n", name, value);
  };
  out << heading("Run", colour) << '\n';
  line("command", facts.command);
  line("started", facts.started);
  line("duration", format_duration(facts.duration_ns));
  line("mpi", facts.mpi);
  line("ucx", members_line(member(info, "ucx")));
  line("clock", members_line(member(info, "clock")));
  line("events", members_line(member(info, "events")));
  line("log", members_line(member(info, "log")));
  line("messages", members_line(member(info, "messages")));
  if (!member(member(info, "recording"), "sentence").is_null()) {
    line("of these", "uct, ucp, mpi, matched, unmatched, ambiguous and kinds are of what was kept");
    line("", "dropped, overwritten, outside_window, sent and received are of the whole run");
  }
  if (!run.stacks.empty()) line("stacks", members_line(member(info, "stacks")));
  for (std::size_t i = 0; i < run.gpus.size(); ++i) {
    const std::int32_t numa = run.gpus[i].numa;
    line("gpu", full_memory_text(run, {MemoryKind::gpu, static_cast<std::int32_t>(i)}) +
                    (numa < 0 ? "" : fmt::format(", NUMA node {}", numa)));
  }
  if (!run.gpus.empty()) line("memory", members_line(member(info, "gpu")));
  for (const std::string& text : topology_texts(info)) line("topology", text);
  line("complete", facts.complete ? "yes" : "no");
}

Table process_table(const Run& run) {
  Table table{.key = "processes",
              .title = "Processes",
              .columns = {{"rank", "rank", Unit::count},
                          {"host", "host"},
                          {"pid", "pid", Unit::count},
                          {"events", "events", Unit::count},
                          {"log_bytes", "log", Unit::bytes},
                          {"complete", "complete"},
                          {"exit", "exit"}},
              .rows = {}};
  for (const Process& process : run.processes) {
    const Cell rank = process.rank < 0 ? Cell{} : Cell{static_cast<std::uint64_t>(process.rank)};
    table.rows.push_back({rank, run.texts[process.host], std::uint64_t{process.pid}, process.events,
                          process.log_bytes, std::string(process.complete ? "yes" : "no"),
                          run.texts[process.exit]});
  }
  return table;
}

// Green, yellow, red: the verdict is what the eye looks for in this list.
std::string verdict(Verdict result, Colour colour) {
  const std::string name = fmt::format("{:<10}", name_of(result));
  if (colour == Colour::off) return name;
  const int code = result == Verdict::holds ? 32 : result == Verdict::incomplete ? 33 : 31;
  return fmt::format("\033[{}m{}\033[0m", code, name);
}

// A list under its title, in lines of text; cut like a table.
void write_lines(std::ostream& out, const std::string& title, const std::vector<std::string>& lines,
                 const InfoOptions& options) {
  out << heading(title, options.colour) << '\n';
  const std::size_t shown = std::min(lines.size(), options.limit.value_or(lines.size()));
  for (std::size_t i = 0; i < shown; ++i) out << lines[i] << '\n';
  if (lines.empty()) out << "(none)\n";
  if (shown < lines.size()) out << fmt::format("({} more rows)\n", lines.size() - shown);
}

std::vector<std::string> layer_lines(const ordered_json& layers) {
  std::vector<std::string> lines;
  for (const auto& [name, layer] : layers.items()) {
    const std::string why = text_of(layer, "why");
    lines.push_back(
        fmt::format("{:<5} {}{}", name, text_of(layer, "state"), why.empty() ? "" : ": " + why));
  }
  return lines;
}

// A cut list begins with what does not hold: that must not be what is cut off.
std::vector<std::string> identity_lines(const Run& run, const InfoOptions& options) {
  std::vector<Identity> identities = run.identities;
  if (options.limit) {
    std::stable_partition(identities.begin(), identities.end(), [](const Identity& identity) {
      return identity.result != Verdict::holds;
    });
  }
  std::vector<std::string> lines;
  for (const Identity& identity : identities) {
    lines.push_back(fmt::format("{} {} ({}): {}: {} {} {}",
                                verdict(identity.result, options.colour), identity.name,
                                identity.scope, identity.statement, identity.left,
                                identity.left == identity.right ? "=" : "!=", identity.right));
  }
  return lines;
}

std::vector<std::string> link_lines(const ordered_json& links) {
  std::vector<std::string> lines;
  for (const auto& [name, link] : links.items()) {
    lines.push_back(fmt::format("{:<8} {}", name, members_line(link)));
  }
  return lines;
}

std::vector<std::string> fault_lines(const ordered_json& faults) {
  std::vector<std::string> lines;
  for (const ordered_json& fault : faults) {
    lines.push_back(fault.is_object()   ? members_line(fault)
                    : fault.is_string() ? fault.get<std::string>()
                                        : dump(fault));
  }
  return lines;
}

}  // namespace

RunFacts facts_of(const Run& run) {
  const ordered_json info = parsed_info(run);
  RunFacts facts{.id = run.run_id,
                 .command = run.command,
                 .mpi = library_name(text_of(member(info, "mpi"), "library")),
                 .ucx = text_of(member(info, "ucx"), "version"),
                 .started = utc(run.epoch_realtime_ns),
                 .duration_ns = last_instant(run),
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

void write_recording_note(std::ostream& out, const Run& run) {
  const std::string sentence = recording_sentence(run);
  if (!sentence.empty()) out << "# note: " << sentence << '\n';
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
  return fmt::format("identities: {} of {} hold; {}", count.holds, run.identities.size(),
                     fmt::join(open, ", "));
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

ordered_json info_json(const Run& run) {
  ordered_json info = {{"schema", kInfoSchema}, {"identities", identities_json(run)}};
  info.update(parsed_info(run));
  info["notes"] = run.notes;
  return info;
}

void write_info_text(std::ostream& out, const Run& run, const InfoOptions& options) {
  const ordered_json info = parsed_info(run);
  const bool all = options.list == InfoList::all;
  if (all) write_facts(out, run, info, options.colour);
  // Chosen by name a list is shown though it is empty.
  const auto section = [&](InfoList list, bool is_there, const auto& write) {
    if (options.list != list && (!all || !is_there)) return;
    if (all) out << '\n';
    write();
  };
  const auto lines = [&](InfoList list, bool is_there, const char* title, const auto& make) {
    section(list, is_there, [&] { write_lines(out, title, make(), options); });
  };
  const ordered_json &layers = member(info, "layers"), &links = member(info, "links"),
                     &faults = member(info, "faults");
  section(InfoList::processes, true, [&] {
    Table table = process_table(run);
    if (options.limit) table.keep_first(*options.limit);
    write_text(out, table, options.colour);
  });
  lines(InfoList::layers, layers.is_object(), "Layers", [&] { return layer_lines(layers); });
  lines(InfoList::identities, true, "Identities (left = right, each side counted on its own)",
        [&] { return identity_lines(run, options); });
  lines(InfoList::links, links.is_object(), "Links", [&] { return link_lines(links); });
  lines(InfoList::faults, faults.is_array() && !faults.empty(), "Faults",
        [&] { return fault_lines(faults); });
  lines(InfoList::notes, !run.notes.empty(), "Notes", [&] { return run.notes; });
}

}  // namespace uctrace

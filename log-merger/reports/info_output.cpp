#include "log-merger/reports/info_output.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <set>

#include "log-merger/findings/finding.hpp"
#include "log-merger/reports/findings_output.hpp"
#include "log-merger/summaries/info_members.hpp"
#include "log-merger/summaries/memory_output.hpp"
#include "log-merger/summaries/settings.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;
using summaries::member;
using summaries::parsed_info;
using summaries::text_of;

// Members of an object on one line: "exact 12, inferred 0". Lists are covered by notes.
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

// The cost of --never-drop for the program.
std::string waits_text(const ordered_json& waits) {
  if (!waits.is_object()) return "";
  return fmt::format("{} waits of threads for memory to record into, {} all together",
                     text_of(waits, "waits"),
                     format_duration(waits.at("waited_ns").get<std::int64_t>()));
}

// One text per host with unknown device distances; the number of other hosts.
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

// One text per host without network counters at both ends; the number of other hosts.
std::vector<std::string> network_texts(const ordered_json& info) {
  std::vector<std::string> texts;
  std::size_t read = 0;
  for (const ordered_json& host : member(member(info, "network"), "hosts")) {
    const std::string name = text_of(host, "host");
    if (member(host, "read") == true) {
      ++read;
    } else {
      texts.push_back(fmt::format("counters of {}: {}", name, text_of(host, "why")));
    }
    for (const ordered_json& remark : member(host, "remarks")) {
      if (remark.is_string()) {
        texts.push_back(fmt::format("counters of {}: {}", name, remark.get<std::string>()));
      }
    }
  }
  if (read > 0) {
    texts.push_back(fmt::format("counters of cards read on {} host{}; see report --by rails", read,
                                read == 1 ? "" : "s"));
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
  const ordered_json& ucx = member(info, "ucx");
  line("ucx", members_line(ucx));
  const ordered_json& libraries = member(ucx, "ucp_libraries");
  for (const ordered_json& library : libraries) {
    if (libraries.size() > 1) line("", members_line(library));
  }
  for (const ordered_json& library : member(info, "libraries")) {
    line("library", members_line(library));
  }
  line("clock", members_line(member(info, "clock")));
  line("events", members_line(member(info, "events")));
  line("log", members_line(member(info, "log")));
  line("never drop", waits_text(member(info, "never_drop")));
  line("messages", members_line(member(info, "messages")));
  if (!member(member(info, "recording"), "sentence").is_null()) {
    line("of these",
         "uct, ucp, mpi, library, matched, unmatched, ambiguous and kinds are of what was kept");
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
  for (const std::string& text : network_texts(info)) line("network", text);
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

// Green, yellow, red: readers look for the verdict in this list.
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
        fmt::format("{:<7} {}{}", name, text_of(layer, "state"), why.empty() ? "" : ": " + why));
  }
  return lines;
}

// The relation sign. If it holds only up to rounding, the sides differ.
const char* relation(const Identity& identity) {
  if (identity.left == identity.right) return "=";
  return identity.result == Verdict::holds ? "~" : "!=";
}

// A truncated list must keep violated identities: these come first.
std::vector<std::string> identity_lines(const Run& run, std::vector<Identity> identities,
                                        const InfoOptions& options) {
  if (options.limit) {
    std::stable_partition(identities.begin(), identities.end(), [](const Identity& identity) {
      return identity.result != Verdict::holds;
    });
  }
  const std::string damage = damage_sentence(run);
  std::vector<std::string> lines;
  for (const Identity& identity : identities) {
    const bool may_be_damage = identity.result == Verdict::violated && !damage.empty();
    lines.push_back(
        fmt::format("{} {} ({}): {}: {} {} {}{}", verdict(identity.result, options.colour),
                    identity.name, identity.scope, identity.statement, identity.left,
                    relation(identity), identity.right, may_be_damage ? "; " + damage : ""));
  }
  return lines;
}

// If ranks did not close their logs, most identities cannot be claimed: in the complete output one
// line says so. Violated ones are still listed. If records were dropped as well, that may be the
// cause, and all are listed.
std::vector<std::string> short_identity_lines(const Run& run, const InfoOptions& options) {
  std::map<std::string, std::size_t> unclosed;
  bool dropped = false;
  for (const Process& process : run.processes) {
    const std::string& exit = run.texts[process.exit];
    const bool closed = exit == "finalized" || exit == "exited";
    if (!closed && process.rank >= 0) ++unclosed[exit];
    dropped = dropped || (closed && !process.complete);
  }
  const IdentityCount count = count_identities(run);
  if (unclosed.empty() || count.incomplete == 0 || dropped) {
    return identity_lines(run, run.identities, options);
  }
  std::vector<std::string> why;
  for (const auto& [exit, processes] : unclosed) {
    why.push_back(fmt::format("{} {}", processes, exit));
  }
  std::vector<Identity> violated;
  std::copy_if(run.identities.begin(), run.identities.end(), std::back_inserter(violated),
               [](const Identity& identity) { return identity.result == Verdict::violated; });
  std::vector<std::string> lines = identity_lines(run, violated, options);
  lines.push_back(fmt::format(
      "{}: not all of {} processes closed their logs ({}): {} of {} identities are incomplete, {} "
      "hold, {} violated; `uctrace info --list identities` lists them",
      verdict(Verdict::incomplete, options.colour), run.processes.size(), fmt::join(why, ", "),
      count.incomplete, run.identities.size(), count.holds, count.violated));
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

void write_recording_note(std::ostream& out, const Run& run) {
  const std::string sentence = recording_sentence(run);
  if (!sentence.empty()) out << "# note: " << sentence << '\n';
}

ordered_json info_json(const Run& run) {
  ordered_json info = {{"schema", kInfoSchema}, {"identities", identities_json(run)}};
  info.update(parsed_info(run));
  info["settings"] = settings_json(run);
  info["notes"] = run.notes;
  return info;
}

void write_info_text(std::ostream& out, const RowSource& source, const InfoOptions& options) {
  const Run& run = source.run();
  const ordered_json info = parsed_info(run);
  const bool all = options.list == InfoList::all;
  if (all) {
    const std::vector<findings::Finding> found = findings::findings_of(source);
    write_findings(out, found,
                   {.folder = options.folder,
                    .colour = options.colour,
                    .limit = options.limit.value_or(kShownFindings)});
    if (!found.empty()) out << '\n';
    write_facts(out, run, info, options.colour);
  }
  // A list chosen by name is shown even if empty.
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
    write_text(out, table, options.colour, options.width);
  });
  lines(InfoList::layers, layers.is_object(), "Layers", [&] { return layer_lines(layers); });
  lines(InfoList::identities, true, "Identities (left = right, each side counted on its own)", [&] {
    return all ? short_identity_lines(run, options) : identity_lines(run, run.identities, options);
  });
  lines(InfoList::links, links.is_object(), "Links", [&] { return link_lines(links); });
  lines(InfoList::faults, faults.is_array() && !faults.empty(), "Faults",
        [&] { return fault_lines(faults); });
  lines(InfoList::settings, !run.settings.empty(), "Settings, and what UCX opened",
        [&] { return setting_lines(run); });
  lines(InfoList::notes, !run.notes.empty(), "Notes", [&] { return run.notes; });
}

}  // namespace uctrace

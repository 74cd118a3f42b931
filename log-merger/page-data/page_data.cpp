#include "log-merger/page-data/page_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "event-log/format/version.hpp"
#include "event-log/reader/error.hpp"
#include "event-log/reader/input_file.hpp"
#include "log-merger/model/json_text.hpp"
#include "log-merger/page-data/cells_json.hpp"
#include "log-merger/page-data/chosen_rows.hpp"
#include "log-merger/page-data/packed_slabs.hpp"
#include "log-merger/page-data/page_call_sites.hpp"
#include "log-merger/page-data/page_choice.hpp"
#include "log-merger/page-data/page_communicators.hpp"
#include "log-merger/page-data/page_details.hpp"
#include "log-merger/page-data/page_devices.hpp"
#include "log-merger/page-data/page_findings.hpp"
#include "log-merger/page-data/page_waits.hpp"
#include "log-merger/summaries/facets.hpp"
#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/run_facts.hpp"
#include "log-merger/summaries/settings.hpp"
#include "log-merger/summaries/traffic_tables.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

ordered_json or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

// Some runs have settings that number their processes.
constexpr std::size_t kMostSettingLines = 500;

std::vector<std::string> lines_of_settings(const Run& run) {
  std::vector<std::string> lines = setting_lines(run);
  if (lines.size() > kMostSettingLines) {
    const std::size_t more = lines.size() - kMostSettingLines;
    lines.resize(kMostSettingLines);
    lines.push_back(fmt::format("and {} more: uctrace info --list settings", more));
  }
  return lines;
}

ordered_json run_json(const Run& run) {
  const RunFacts facts = facts_of(run);
  return {{"id", facts.id},
          {"command", facts.command},
          {"started", facts.started},
          {"duration_ns", facts.duration_ns},
          {"mpi", or_null(facts.mpi)},
          {"ucx", or_null(facts.ucx)},
          {"tool", log::kToolVersion},
          {"complete", facts.complete},
          {"settings", short_settings(run)},
          {"setting_lines", lines_of_settings(run)}};
}

ordered_json processes_json(const Run& run) {
  const Labels labels(run);
  ordered_json processes = ordered_json::array();
  for (std::size_t i = 0; i < run.processes.size(); ++i) {
    const Process& process = run.processes[i];
    processes.push_back(
        {{"rank", process.rank < 0 ? ordered_json(nullptr) : ordered_json(process.rank)},
         {"host", run.texts[process.host]},
         {"pid", process.pid},
         {"label", labels.of_processes()[i]},
         {"complete", process.complete},
         {"exit", run.texts[process.exit]}});
  }
  return processes;
}

// The JSON keeps its value, but can neither end nor reopen the script element around it.
std::string safe_in_script(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '<' && i + 1 < json.size() && json[i + 1] == '/') {
      safe += "<\\";
    } else if (json[i] == '<') {
      safe += "\\u003c";
    } else {
      safe += json[i];
    }
  }
  return safe;
}

// The ends of traffic that are not recorded processes, by their names on the command line. Each has
// its own entry: a rank whose log is missing keeps its number.
ordered_json unrecorded_json(const RowSource& source) {
  const Labels labels(source.run());
  const Facets facets(source);
  const auto names = [&](FacetOf end) {
    std::set<std::string> names;
    for (const Party& party : facets.parties(end)) {
      if (party.process < 0) names.insert(labels(party));
    }
    return names;
  };
  return {{"src", names(FacetOf::source)}, {"dst", names(FacetOf::destination)}};
}

[[noreturn]] void refuse_template(const std::string& why) {
  throw Error({.what = "cannot make the page",
               .why = "the template built into this program " + why,
               .to_do = "build uctrace again from a clean build folder"});
}

// Sets `value` as the content of the script element with this id.
std::string fill(std::string_view html, std::string_view id, const ordered_json& value) {
  constexpr std::string_view kOpen = "<script", kClose = "</script>";
  const std::string attribute = fmt::format("id=\"{}\"", id);
  for (std::size_t open = html.find(kOpen); open != std::string_view::npos;
       open = html.find(kOpen, open + kOpen.size())) {
    const std::size_t tag_end = html.find('>', open);
    if (tag_end == std::string_view::npos) break;
    if (html.substr(open, tag_end - open).find(attribute) == std::string_view::npos) continue;
    const std::size_t close = html.find(kClose, tag_end);
    if (close == std::string_view::npos) break;
    return std::string(html.substr(0, tag_end + 1)) + safe_in_script(dump(value)) +
           std::string(html.substr(close));
  }
  refuse_template("has no place for data");
}

// What the page shows over time, and which operations it lists one by one.
struct PageContents {
  TrafficTables traffic;
  DetailChoice::Chosen chosen;
};

// From what the run keeps; else from all rows, each read once.
PageContents contents_of(const RowSource& source, const TimeWindow& window, std::uint64_t limit) {
  if (has_traffic(source.run()) && !window.is_part) {
    TrafficTables traffic = read_traffic(source);
    DetailChoice::Chosen chosen = choose_by_slabs(source, window, traffic.slabs, limit);
    return {std::move(traffic), std::move(chosen)};
  }
  DetailChoice choice(window, limit);
  TrafficTables traffic = count_traffic(source, window, choice);
  return {std::move(traffic), choice.finish()};
}

// Cells count messages with or without a known time, slabs only those with one.
std::uint64_t messages_without_time(const TrafficTables& traffic) {
  std::uint64_t messages = 0;
  for (const TrafficCell& cell : traffic.cells.cells) messages += cell.messages;
  for (const CellSlab& slab : traffic.slabs.cell_slabs) messages -= slab.messages;
  return messages;
}

ordered_json time_json(const Run& run, const TimeWindow& window, const PageContents& contents) {
  const auto& [traffic, chosen] = contents;
  ordered_json call_kinds = ordered_json::array();
  const auto text = [&](TextId id) { return or_null(run.texts[id]); };
  for (const auto& [function, comm] : traffic.slabs.call_groups) {
    call_kinds.push_back({{"mpi", text(function)}, {"comm", text(comm)}});
  }
  std::size_t embedded = 0;
  for (const DetailChoice::Numbers& rows : chosen.rows) embedded += rows.size();
  return {{"from_ns", traffic.slabs.axis.from_ns},
          {"to_ns", window.to_ns},
          {"slab_ns", traffic.slabs.axis.slab_ns},
          {"slabs", traffic.slabs.axis.slabs},
          {"is_part", window.is_part},
          {"clock_error_ns", clock_error_ns(run)},
          {"messages_without_time", messages_without_time(traffic)},
          {"events", chosen.events},
          {"embedded", embedded},
          {"details_to_ns", chosen.to_ns},
          {"call_kinds", std::move(call_kinds)}};
}

TimeWindow window_of(const Run& run, const PageOptions& options) {
  // Longer than any run: limits what is shown of a run whose store is damaged.
  constexpr std::int64_t kLongest = std::int64_t{1} << 53;
  require_span(run, options.from_ns, options.to_ns);
  const auto from = static_cast<std::int64_t>(
      std::min<std::uint64_t>(options.from_ns.value_or(0), INT64_MAX - kLongest));
  // The last instant recorded belongs to the run.
  const auto last = static_cast<std::int64_t>(
      std::min(facts_of(run).duration_ns + 1, options.to_ns.value_or(UINT64_MAX)));
  return {from, std::clamp(last, from + 1, from + kLongest), options.from_ns || options.to_ns};
}

}  // namespace

ordered_json page_data(const RowSource& source, const PageOptions& options) {
  const Run& run = source.run();
  const TimeWindow window = window_of(run, options);
  PageContents contents = contents_of(source, window, options.tiles ? 0 : options.limit);
  ordered_json time = time_json(run, window, contents);
  const TimeAxis axis = contents.traffic.slabs.axis;
  std::vector<PackedTable> tables = pack_slabs(contents.traffic.slabs);
  const auto known =
      std::make_shared<const TrafficCells>(window, std::move(contents.traffic.cells));
  const TrafficCells& cells = *known;
  for (PackedTable& table : pack_cells(cells.tables())) tables.push_back(std::move(table));
  const ChosenRows rows(source, cells, contents.chosen);
  for (PackedTable& table : make_details(run, cells, rows)) tables.push_back(std::move(table));
  for (PackedTable& table : make_waits(source, window, axis, contents.chosen)) {
    tables.push_back(std::move(table));
  }
  ordered_json tiles = nullptr;
  if (options.tiles) tiles = make_tiles(source, window, axis, known, *options.tiles);
  return {{"schema", kPageSchema},
          {"run", run_json(run)},
          {"processes", processes_json(run)},
          {"devices", devices_json(run)},
          {"unrecorded", unrecorded_json(source)},
          {"steps", steps_json(run, cells.tables())},
          {"classes", classes_json(run, cells.tables())},
          {"identities", identities_json(run)},
          {"notes", run.notes},
          {"texts", run.texts.all()},
          {"time", std::move(time)},
          {"tiles", std::move(tiles)},
          {"waits", wait_names_json()},
          {"packed", pack(tables)},
          {"findings", page_findings_json(source, options.folder)},
          {"protocols", page_protocols_json(source)},
          {"call_sites", page_call_sites_json(source)},
          {"delays", page_delays_json(run)},
          {"communicators", page_communicators_json(source)},
          {"comparison", options.comparison},
          {"served", options.served},
          {"folder", options.folder}};
}

std::string with_tiles_allowed(std::string_view page_template) {
  constexpr std::string_view kScripts = "script-src 'unsafe-inline'", kBeside = " 'self'";
  std::string allowed(page_template);
  const std::size_t at = allowed.find(kScripts);
  if (at == std::string::npos) refuse_template("says of no scripts that they may be loaded");
  return allowed.insert(at + kScripts.size(), kBeside);
}

bool is_page(const std::filesystem::path& path) {
  constexpr std::string_view kMark = "<title>uctrace</title>";
  std::string beginning(4096, '\0');
  log::InputFile file(path.string());
  const auto got = file.is_open() ? file.read(beginning.data(), beginning.size(), 0) : std::nullopt;
  return got && std::string_view(beginning).substr(0, *got).find(kMark) != std::string_view::npos;
}

std::string insert_page_data(std::string_view page_template, ordered_json data) {
  const ordered_json packed = std::move(data.at("packed"));
  data.erase("packed");
  return fill(fill(page_template, "uctrace-data", data), "uctrace-packed", packed);
}

}  // namespace uctrace

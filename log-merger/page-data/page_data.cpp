#include "log-merger/page-data/page_data.hpp"

#include <algorithm>
#include <set>

#include "event-log/format/version.hpp"
#include "event-log/reader/error.hpp"
#include "event-log/reader/input_file.hpp"
#include "log-merger/model/json_text.hpp"
#include "log-merger/page-data/page_cells.hpp"
#include "log-merger/page-data/page_details.hpp"
#include "log-merger/page-data/page_devices.hpp"
#include "log-merger/page-data/page_timeline.hpp"
#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/run_facts.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

ordered_json or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
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
          {"complete", facts.complete}};
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

// JSON stays the same value and can neither end nor reopen the script element around it.
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

bool is_part(const PageOptions& options) { return options.from_ns || options.to_ns; }

// What the command line calls the ends that are no recorded process, each apart: a rank whose log
// is missing keeps its number there.
ordered_json unrecorded_json(const Run& run) {
  const Labels labels(run);
  std::set<std::string> src, dst;
  for (const Message& message : run.messages) {
    if (message.src_process < 0) src.insert(labels(source_of(message)));
    if (message.dst_process < 0) dst.insert(labels(destination_of(message)));
  }
  for (const Transfer& transfer : run.transfers) {
    if (transfer.message < 0 && transfer.peer_process < 0) dst.insert(labels({}));
  }
  return {{"src", src}, {"dst", dst}};
}

ordered_json time_json(const Run& run, const PageOptions& options, std::int64_t to_ns,
                       const Slabs& slabs, const Details& details) {
  ordered_json call_kinds = ordered_json::array();
  const auto text = [&](TextId id) { return or_null(run.texts[id]); };
  for (const auto& [function, comm] : slabs.call_kinds) {
    call_kinds.push_back({{"mpi", text(function)}, {"comm", text(comm)}});
  }
  const auto without_time =
      std::count_if(run.messages.begin(), run.messages.end(),
                    [](const Message& message) { return time_of(message) < 0; });
  return {{"from_ns", slabs.axis.from_ns},
          {"to_ns", to_ns},
          {"slab_ns", slabs.axis.slab_ns},
          {"slabs", slabs.axis.slabs},
          {"is_part", is_part(options)},
          {"clock_error_ns", clock_error_ns(run)},
          {"messages_without_time", is_part(options) ? 0 : without_time},
          {"events", details.events},
          {"embedded", details.embedded},
          {"details_to_ns", details.to_ns},
          {"call_kinds", std::move(call_kinds)}};
}

}  // namespace

ordered_json page_data(const Run& run, const PageOptions& options) {
  const RunFacts facts = facts_of(run);
  const auto from = static_cast<std::int64_t>(options.from_ns.value_or(0));
  // The last instant recorded belongs to the run.
  const auto last = static_cast<std::int64_t>(
      std::min(facts.duration_ns + 1, options.to_ns.value_or(UINT64_MAX)));
  const std::int64_t to = std::max(from + 1, last);
  const PageCells cells(run, from, to, is_part(options));
  const Slabs slabs = make_slabs(run, cells, from, to);
  const Details details = make_details(run, cells, from, to, options.limit);
  std::vector<PackedTable> tables = slabs.tables;
  tables.insert(tables.end(), details.tables.begin(), details.tables.end());
  return {{"schema", kPageSchema},
          {"run", run_json(run)},
          {"processes", processes_json(run)},
          {"devices", devices_json(run)},
          {"unrecorded", unrecorded_json(run)},
          {"steps", cells.steps_json()},
          {"classes", cells.classes_json()},
          {"cells", cells.cells_json()},
          {"identities", identities_json(run)},
          {"notes", run.notes},
          {"texts", run.texts.all()},
          {"time", time_json(run, options, to, slabs, details)},
          {"packed", pack(tables)}};
}

bool is_page(const std::filesystem::path& path) {
  constexpr std::string_view kMark = "<title>uctrace</title>";
  std::string beginning(4096, '\0');
  log::InputFile file(path.string());
  const auto got = file.is_open() ? file.read(beginning.data(), beginning.size(), 0) : std::nullopt;
  return got && std::string_view(beginning).substr(0, *got).find(kMark) != std::string_view::npos;
}

std::string insert_page_data(std::string_view page_template, const ordered_json& data) {
  constexpr std::string_view kOpen = "<script", kClose = "</script>";
  for (std::size_t open = page_template.find(kOpen); open != std::string_view::npos;
       open = page_template.find(kOpen, open + kOpen.size())) {
    const std::size_t tag_end = page_template.find('>', open);
    if (tag_end == std::string_view::npos) break;
    if (page_template.substr(open, tag_end - open).find("uctrace-data") == std::string_view::npos) {
      continue;
    }
    const std::size_t close = page_template.find(kClose, tag_end);
    if (close == std::string_view::npos) break;
    return std::string(page_template.substr(0, tag_end + 1)) + safe_in_script(dump(data)) +
           std::string(page_template.substr(close));
  }
  throw Error({.what = "cannot make the page",
               .why = "the template built into this program has no place for data",
               .to_do = "build uctrace again from a clean build folder"});
}

}  // namespace uctrace

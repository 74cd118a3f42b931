#include "log-merger/page-data/page_data.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "event-log/format/version.hpp"
#include "event-log/reader/error.hpp"
#include "event-log/reader/input_file.hpp"
#include "log-merger/model/json_text.hpp"
#include "log-merger/page-data/page_cells.hpp"
#include "log-merger/page-data/page_details.hpp"
#include "log-merger/page-data/page_devices.hpp"
#include "log-merger/page-data/page_slabs.hpp"
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

// The ends that are no recorded process.
class UnrecordedEnds {
 public:
  static Wanted<Message> of_messages() {
    return {&Message::src, &Message::dst, &Message::src_process, &Message::dst_process};
  }

  void add(const Message& message) {
    if (message.src_process < 0) src_.insert(source_of(message));
    if (message.dst_process < 0) dst_.insert(destination_of(message));
  }
  void add(const Transfer& transfer) {
    if (transfer.message < 0 && transfer.peer_process < 0) dst_.insert(Party{});
  }

  // As the command line calls them, each apart: a rank whose log is missing keeps its number there.
  ordered_json json(const Run& run) const {
    const Labels labels(run);
    const auto names = [&](const std::set<Party>& ends) {
      std::set<std::string> names;
      for (const Party& end : ends) names.insert(labels(end));
      return names;
    };
    return {{"src", names(src_)}, {"dst", names(dst_)}};
  }

 private:
  std::set<Party> src_, dst_;
};

// What the page says, out of all rows of the run, each read once; and then of what is told in
// detail.
class PageBuilder {
 public:
  PageBuilder(const RowSource& source, const PageWindow& window, std::uint64_t limit)
      : source_(source),
        window_(window),
        cells_(source.run(), window),
        slabs_(window, source.run().processes.size()),
        choice_(window, limit) {
    read_messages();
    read_transfers();
    read_ucp_operations();
    read_mpi_calls();
    chosen_ = choice_.finish();
  }

  ordered_json build() {
    const Run& run = source_.run();
    std::vector<PackedTable> tables = slabs_.tables(cells_);
    for (PackedTable& table : make_details(source_, cells_, chosen_)) {
      tables.push_back(std::move(table));
    }
    return {{"schema", kPageSchema},
            {"run", run_json(run)},
            {"processes", processes_json(run)},
            {"devices", devices_json(run)},
            {"unrecorded", unrecorded_.json(run)},
            {"steps", cells_.steps_json()},
            {"classes", cells_.classes_json()},
            {"cells", cells_.cells_json()},
            {"identities", identities_json(run)},
            {"notes", run.notes},
            {"texts", run.texts.all()},
            {"time", time_json()},
            {"packed", pack(tables)}};
  }

 private:
  void read_messages() {
    const auto wanted = PageCells::of_messages() | UnrecordedEnds::of_messages();
    for_each_message(source_, wanted, PageCells::of_paths(),
                     [&](const Message& message, std::span<const Hop> path, std::size_t number) {
                       unrecorded_.add(message);
                       without_time_ += time_of(message) < 0;
                       if (const auto placed = cells_.add(message, path)) {
                         slabs_.add(message, *placed);
                       }
                       choice_.note(message, number);
                     });
  }

  void read_transfers() {
    const auto wanted =
        PageCells::of_transfers() | Wanted<Transfer>(&Transfer::t_end_ns, &Transfer::t_complete_ns);
    for_each_row(source_, wanted, [&](const Transfer& transfer, std::size_t number) {
      unrecorded_.add(transfer);
      const auto placed = cells_.add(transfer);
      if (placed && transfer.message < 0) slabs_.add_without_message(transfer, *placed);
      slabs_.add(transfer, placed);
      choice_.note(transfer, number);
    });
  }

  void read_ucp_operations() {
    using Row = UcpOperationRow;
    const Wanted<Row> wanted(&Row::process, &Row::message, &Row::t_start_ns, &Row::t_end_ns);
    for_each_row(source_, wanted, [&](const Row& row, std::size_t number) {
      slabs_.add(row, row.message < 0
                          ? std::nullopt
                          : cells_.cell_of_message(static_cast<std::size_t>(row.message)));
      choice_.note(row, number);
    });
  }

  void read_mpi_calls() {
    using Row = MpiCallRow;
    const Wanted<Row> wanted(&Row::process, &Row::function, &Row::comm, &Row::t_start_ns,
                             &Row::t_end_ns);
    for_each_row(source_, wanted, [&](const Row& row, std::size_t number) {
      slabs_.add(row);
      choice_.note(row, number);
    });
  }

  ordered_json time_json() const {
    const Run& run = source_.run();
    ordered_json call_kinds = ordered_json::array();
    const auto text = [&](TextId id) { return or_null(run.texts[id]); };
    for (const auto& [function, comm] : slabs_.call_kinds()) {
      call_kinds.push_back({{"mpi", text(function)}, {"comm", text(comm)}});
    }
    std::size_t embedded = 0;
    for (const DetailChoice::Numbers& rows : chosen_.rows) embedded += rows.size();
    return {{"from_ns", slabs_.axis().from_ns},
            {"to_ns", window_.to_ns},
            {"slab_ns", slabs_.axis().slab_ns},
            {"slabs", slabs_.axis().slabs},
            {"is_part", window_.is_part},
            {"clock_error_ns", clock_error_ns(run)},
            {"messages_without_time", window_.is_part ? 0 : without_time_},
            {"events", chosen_.events},
            {"embedded", embedded},
            {"details_to_ns", chosen_.to_ns},
            {"call_kinds", std::move(call_kinds)}};
  }

  const RowSource& source_;
  const PageWindow window_;
  PageCells cells_;
  PageSlabs slabs_;
  DetailChoice choice_;
  DetailChoice::Chosen chosen_;
  UnrecordedEnds unrecorded_;
  std::uint64_t without_time_ = 0;
};

PageWindow window_of(const Run& run, const PageOptions& options) {
  // Longer than any run: of one whose store is damaged no more is shown.
  constexpr std::int64_t kLongest = std::int64_t{1} << 53;
  const auto from = static_cast<std::int64_t>(
      std::min<std::uint64_t>(options.from_ns.value_or(0), INT64_MAX - kLongest));
  // The last instant recorded belongs to the run.
  const auto last = static_cast<std::int64_t>(
      std::min(facts_of(run).duration_ns + 1, options.to_ns.value_or(UINT64_MAX)));
  return {from, std::clamp(last, from + 1, from + kLongest), options.from_ns || options.to_ns};
}

}  // namespace

ordered_json page_data(const RowSource& source, const PageOptions& options) {
  return PageBuilder(source, window_of(source.run(), options), options.limit).build();
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

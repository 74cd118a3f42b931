#include "log-merger/page_data.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <span>
#include <vector>

#include "event-log/version.hpp"
#include "log-merger/error.hpp"
#include "log-merger/filter.hpp"
#include "log-merger/info_output.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

// A step of a data path. The order of members is the order along the path.
struct Step {
  std::uint16_t hop = 0;
  Role role = Role::data;
  TextId transport = kNoText, device = kNoText, op = kNoText;
  Side issued_by = Side::src;
  auto operator<=>(const Step&) const = default;
};

struct Totals {
  std::uint64_t count = 0, bytes = 0, wire_bytes = 0;
};

// Everything that a filter can ask of a message. `match` is empty for transfers without one.
struct TrafficClass {
  TextId mpi = kNoText, comm = kNoText, protocol = kNoText;
  std::string match;
  std::string reason;
  std::vector<Step> path;
  auto operator<=>(const TrafficClass&) const = default;
};

struct CellKey {
  std::int32_t src = -1, dst = -1;
  std::size_t traffic_class = 0;
  auto operator<=>(const CellKey&) const = default;
};

struct CellTotals {
  std::uint64_t messages = 0, bytes = 0;
  std::vector<Totals> transfers;  // of the steps of the class
};

ordered_json or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

class Aggregation {
 public:
  explicit Aggregation(const Run& run) : run_(run) {
    for (const Message& message : run.messages) add(message);
    for (const Transfer& transfer : run.transfers) {
      if (transfer.message < 0) add(transfer);
    }
  }

  ordered_json classes() const;
  ordered_json cells() const;

 private:
  void add(const Message& message);
  void add(const Transfer& transfer);
  CellTotals& cell(std::int32_t src, std::int32_t dst, TrafficClass traffic_class);
  ordered_json class_json(const TrafficClass& traffic_class) const;

  ordered_json text(TextId id) const {
    return id == kNoText ? ordered_json(nullptr) : ordered_json(run_.texts[id]);
  }

  // A step always has a name for a filter to choose it by.
  std::string name(TextId id) const { return id == kNoText ? "unknown" : run_.texts[id]; }

  const Run& run_;
  std::map<TrafficClass, std::size_t> classes_;  // number: in order of first appearance
  std::map<CellKey, CellTotals> cells_;
};

CellTotals& Aggregation::cell(std::int32_t src, std::int32_t dst, TrafficClass traffic_class) {
  const std::size_t steps = traffic_class.path.size();
  const std::size_t number =
      classes_.emplace(std::move(traffic_class), classes_.size()).first->second;
  CellTotals& totals = cells_[{src, dst, number}];
  totals.transfers.resize(steps);
  return totals;
}

void Aggregation::add(const Message& message) {
  std::map<Step, Totals> steps;
  for (const Hop& hop : std::span(run_.hops).subspan(message.first_hop, message.hops)) {
    Totals& sum = steps[{hop.hop, hop.role, hop.transport, hop.device, hop.op, hop.issued_by}];
    sum.count += hop.count;
    sum.bytes += hop.bytes;
    sum.wire_bytes += hop.wire_bytes;
  }
  TrafficClass traffic_class{
      message.mpi, message.comm, message.protocol, name_of(message.match), "", {}};
  for (const auto& [step, sum] : steps) traffic_class.path.push_back(step);
  CellTotals& totals = cell(message.src_process, message.dst_process, std::move(traffic_class));
  ++totals.messages;
  totals.bytes += message.bytes;
  auto total = totals.transfers.begin();
  for (const auto& [step, sum] : steps) {
    total->count += sum.count;
    total->bytes += sum.bytes;
    total->wire_bytes += sum.wire_bytes;
    ++total;
  }
}

void Aggregation::add(const Transfer& transfer) {
  TrafficClass traffic_class;
  traffic_class.reason = transfer.link == Link::reason         ? run_.texts[transfer.reason]
                         : transfer.link == Link::unattributed ? "unattributed"
                                                               : "no_message";
  traffic_class.path = {
      {0, transfer.role, transfer.transport, transfer.device, transfer.op, Side::src}};
  Totals& total = cell(static_cast<std::int32_t>(transfer.process), transfer.peer_process,
                       std::move(traffic_class))
                      .transfers.front();
  ++total.count;
  total.bytes += transfer.payload;
  total.wire_bytes += transfer.bytes;
}

ordered_json Aggregation::class_json(const TrafficClass& traffic_class) const {
  ordered_json path = ordered_json::array();
  for (const Step& step : traffic_class.path) {
    path.push_back({{"hop", step.hop},
                    {"transport", name(step.transport)},
                    {"device", name(step.device)},
                    {"op", name(step.op)},
                    {"role", name_of(step.role)},
                    {"issued_by", name_of(step.issued_by)}});
  }
  return {{"mpi", text(traffic_class.mpi)},           {"comm", text(traffic_class.comm)},
          {"protocol", text(traffic_class.protocol)}, {"match", or_null(traffic_class.match)},
          {"reason", or_null(traffic_class.reason)},  {"path", std::move(path)}};
}

ordered_json Aggregation::classes() const {
  std::vector<const TrafficClass*> by_number(classes_.size());
  for (const auto& [traffic_class, number] : classes_) by_number[number] = &traffic_class;
  ordered_json classes = ordered_json::array();
  for (const TrafficClass* traffic_class : by_number) {
    classes.push_back(class_json(*traffic_class));
  }
  return classes;
}

ordered_json Aggregation::cells() const {
  ordered_json cells = ordered_json::array();
  for (const auto& [key, totals] : cells_) {
    ordered_json transfers = ordered_json::array();
    for (const Totals& total : totals.transfers) {
      transfers.push_back(
          {{"count", total.count}, {"bytes", total.bytes}, {"wire_bytes", total.wire_bytes}});
    }
    cells.push_back({{"src", key.src},
                     {"dst", key.dst},
                     {"class", key.traffic_class},
                     {"messages", totals.messages},
                     {"bytes", totals.bytes},
                     {"transfers", std::move(transfers)}});
  }
  return cells;
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

}  // namespace

ordered_json page_data(const Run& run) {
  const Aggregation aggregation(run);
  return {{"schema", kPageSchema},
          {"run", run_json(run)},
          {"processes", processes_json(run)},
          {"classes", aggregation.classes()},
          {"cells", aggregation.cells()},
          {"identities", identities_json(run)},
          {"notes", run.notes}};
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

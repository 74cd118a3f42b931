// The filters of the command line against tests/filter-cases/cases.json, which the page's test
// reads, too.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/command-line/grammar.hpp"
#include "cli/command-line/option_kinds.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/model/model.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {
namespace {

using nlohmann::json;
using Names = std::set<std::string>;

const json& the_cases() {
  static const json cases = json::parse(std::ifstream(FILTER_CASES));
  return cases;
}

template <typename Value, std::size_t N>
Value value_of(const Value (&values)[N], const std::string& name) {
  const auto found = std::find_if(std::begin(values), std::end(values),
                                  [&](Value value) { return name_of(value) == name; });
  REQUIRE_MESSAGE(found != std::end(values), name);
  return *found;
}

// The file's description as rows of a run.
class RunOfCases {
 public:
  RunOfCases() {
    run_.run_id = "cases";
    run_.info_json = "{}";
    run_.last_ns = the_cases()["slab_ns"].get<std::int64_t>() * the_cases()["slabs"].get<int>();
    for (const json& process : the_cases()["processes"]) {
      run_.processes.push_back({.key = text(process["host"]),
                                .host = text(process["host"]),
                                .pid = 100 + process["rank"].get<std::uint32_t>(),
                                .rank = process["rank"],
                                .complete = true,
                                .exit = text("finalized")});
    }
    for (const json& gpu : the_cases()["gpus"]) {
      run_.gpus.push_back(
          {.host = text(gpu["host"]), .uuid = text(gpu["uuid"]), .bus = text(gpu["bus"])});
    }
    for (const json& row : the_cases()["messages"]) add_message(row);
    for (const json& row : the_cases()["without_message"]) add_transfer(row);
  }

  const Run& run() const { return run_; }

 private:
  TextId text(const json& name) {
    return name.is_null() ? kNoText : run_.texts.intern(name.get<std::string>());
  }

  Party party(const std::string& end) const {
    if (end == "unknown") return {};
    const std::int32_t rank = std::stoi(end);
    for (std::size_t i = 0; i < run_.processes.size(); ++i) {
      if (run_.processes[i].rank == rank) return {rank, static_cast<std::int32_t>(i)};
    }
    return {rank, -1};
  }

  static std::int64_t time(const json& ns) { return ns.is_null() ? -1 : ns.get<std::int64_t>(); }

  void add_message(const json& row) {
    Message message;
    message.kind = value_of(kMessageKinds, row["kind"]);
    message.match = value_of(kMatches, row["match"]);
    message.mpi = text(row["mpi"]);
    message.comm = text(row["comm"]);
    message.protocol = text(row["protocol"]);
    message.bytes = row["bytes"];
    message.first = row["first"];
    const Party source = party(row["src"]), destination = party(row["dst"]);
    message.src = source.rank;
    message.src_process = source.process;
    message.dst = destination.rank;
    message.dst_process = destination.process;
    message.src_memory = value_of(kMemoryKinds, row["src_memory"][0]);
    message.src_gpu = row["src_memory"][1];
    message.dst_memory = value_of(kMemoryKinds, row["dst_memory"][0]);
    message.dst_gpu = row["dst_memory"][1];
    message.t_start_ns = time(row["start_ns"]);
    message.t_end_ns = time(row["end_ns"]);
    message.t_posted_recv_ns = time(row["posted_ns"]);
    message.first_hop = static_cast<std::uint32_t>(run_.hops.size());
    message.hops = static_cast<std::uint32_t>(row["path"].size());
    for (const json& step : row["path"]) {
      Hop hop;
      hop.message = static_cast<std::uint32_t>(run_.messages.size());
      hop.transport = text(step["transport"]);
      hop.op = text(step["op"]);
      hop.role = value_of(kRoles, step["role"]);
      hop.count = 1;
      run_.hops.push_back(hop);
    }
    run_.messages.push_back(message);
  }

  void add_transfer(const json& row) {
    Transfer transfer;
    transfer.process = static_cast<std::uint32_t>(party(row["src"]).process);
    transfer.peer_process = party(row["dst"]).process;
    transfer.link = Link::reason;
    transfer.reason = text(row["reason"]);
    transfer.t_start_ns = row["start_ns"];
    transfer.transport = text(row["step"]["transport"]);
    transfer.op = text(row["step"]["op"]);
    transfer.role = value_of(kRoles, row["step"]["role"]);
    run_.transfers.push_back(transfer);
  }

  Run run_;
};

// {"src": "1", "internal": true} as words of a command line.
std::vector<std::string> words_of(const json& options) {
  std::vector<std::string> words;
  for (const auto& [option, value] : options.items()) {
    if (value.is_boolean()) {
      words.push_back("--" + option);
      continue;
    }
    for (const json& each : value.is_array() ? value : json::array({value})) {
      words.push_back("--" + option);
      words.push_back(each);
    }
  }
  return words;
}

cli::Verb& report_of(cli::Grammar& grammar) {
  const auto report = std::find_if(grammar.verbs().begin(), grammar.verbs().end(),
                                   [](const cli::Verb& verb) { return verb.name == "report"; });
  REQUIRE(report != grammar.verbs().end());
  return *report;
}

// The filter that `uctrace report` reads from these options. Throws Error for an invalid value.
cli::ReportCommand parsed(const json& options) {
  cli::Grammar grammar;
  const cli::Verb& report = report_of(grammar);
  std::vector<std::string> words = words_of(options);
  std::reverse(words.begin(), words.end());  // the order that parse() takes them from
  report.app->parse(words);
  REQUIRE(report.app->remaining().empty());
  return std::get<cli::ReportCommand>(report.result());
}

// The ids of the rows that the options choose. Throws Error where they are refused.
Names kept(const Run& run, const json& options) {
  const cli::ReportCommand command = parsed(options);
  const RowSource source(run);
  const Filter filter(source, command.filter);
  Names ids;
  for (std::size_t i = 0; i < run.messages.size(); ++i) {
    const Message& message = run.messages[i];
    const auto path = std::span(run.hops).subspan(message.first_hop, message.hops);
    if (filter.selects(message, path)) ids.insert(the_cases()["messages"][i]["id"]);
  }
  if (command.options.without_message == WithoutMessage::left_out) return ids;
  for (std::size_t i = 0; i < run.transfers.size(); ++i) {
    if (filter.accepts_without_message(run.transfers[i])) {
      ids.insert(the_cases()["without_message"][i]["id"]);
    }
  }
  return ids;
}

bool is_of_command(const json& named) {
  const json& sides = named["sides"];
  return std::find(sides.begin(), sides.end(), "command") != sides.end();
}

TEST_CASE("filter cases: the command line keeps the rows that the file says") {
  const RunOfCases made;
  for (const json& one : the_cases()["cases"]) {
    if (one.value("only", "command") != "command") continue;
    CAPTURE(one["name"].get<std::string>());
    if (one.contains("refused")) {
      const std::string refused = one["refused"];
      CHECK_THROWS_WITH_AS(kept(made.run(), one["options"]), doctest::Contains(refused.c_str()),
                           Error);
    } else {
      CHECK(json(kept(made.run(), one["options"])).dump() == json(one["kept"].get<Names>()).dump());
    }
  }
}

TEST_CASE("filter cases: the file names each filter of the command line") {
  cli::Grammar grammar;
  const CLI::App& report = *report_of(grammar).app;
  Names have, named, asked;
  for (const CLI::Option* option : report.get_options()) {
    if (option->get_group() == cli::kChoosing) have.insert(option->get_lnames().at(0));
  }
  // It chooses rows, too, but stands among other options.
  if (report.get_option_no_throw("--internal") != nullptr) have.insert("internal");
  for (const json& one : the_cases()["filters"]) {
    if (is_of_command(one)) named.insert(one["option"].get<std::string>());
  }
  for (const json& one : the_cases()["cases"]) {
    for (const auto& option : one["options"].items()) asked.insert(option.key());
  }
  CHECK(json(have).dump() == json(named).dump());
  CHECK_MESSAGE(std::includes(asked.begin(), asked.end(), named.begin(), named.end()),
                "a filter without a case");
}

}  // namespace
}  // namespace uctrace

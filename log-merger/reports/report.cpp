#include "log-merger/reports/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "event-log/reader/error.hpp"
#include "log-merger/findings/finding.hpp"
#include "log-merger/reports/connection_table.hpp"
#include "log-merger/reports/findings_output.hpp"
#include "log-merger/reports/gpu_nic_table.hpp"
#include "log-merger/reports/info_output.hpp"
#include "log-merger/reports/library_table.hpp"
#include "log-merger/reports/protocol_table.hpp"
#include "log-merger/reports/rails_table.hpp"
#include "log-merger/reports/registration_table.hpp"
#include "log-merger/reports/report_tables.hpp"
#include "log-merger/summaries/gpu_nic.hpp"
#include "log-merger/summaries/settings.hpp"
#include "log-merger/summaries/traffic.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kShownConnections = 10;

// Calls have only a function, place and time: message criteria select none.
bool hides_call_sites(const RowSource& source, const Filter& filter) {
  const bool has_calls = source.count<MpiCallRow>() != 0 || !source.run().call_sums.empty();
  return has_calls && !filter.can_choose_calls();
}

constexpr const char* kCallSitesHidden =
    "calls by call site are chosen by --mpi, --comm, --from and --to alone: with the other options "
    "that are given that table is left out";

std::vector<Table> tables(const RowSource& source, const Filter& filter,
                          const ReportOptions& options) {
  const Run& run = source.run();
  const auto wanted = [&](ReportBy by) { return options.by == by || options.by == ReportBy::all; };
  std::vector<Table> all;
  const TrafficTotals totals = traffic_totals(source, filter, options.by, options.without_message);
  if (wanted(ReportBy::contenders)) {
    const bool for_person = options.format == Format::table;
    all.push_back(for_person ? contender_matrix(run, totals.contenders, options.limit)
                             : contender_table(run, totals.contenders));
  }
  if (wanted(ReportBy::mpi)) all.push_back(function_table(run, totals.functions));
  if (wanted(ReportBy::pairs)) all.push_back(pair_table(run, totals.pairs));
  if (wanted(ReportBy::call_sites) && !hides_call_sites(source, filter)) {
    const auto rows = totals_by_call_site(source, filter);
    const bool for_person = options.format == Format::table;
    // Left out without MPI, if no stacks were requested.
    if (!for_person || options.by == ReportBy::call_sites || !run.stacks.empty()) {
      all.push_back(for_person ? call_site_text(run, rows) : call_site_table(run, rows));
    }
  }
  // Left out without a GPU.
  const bool for_person = options.format == Format::table;
  if (wanted(ReportBy::gpu_nic) &&
      (!for_person || options.by == ReportBy::gpu_nic || !run.gpus.empty())) {
    const auto rows = gpu_nic_totals(source, filter);
    all.push_back(for_person ? gpu_nic_text(run, rows) : gpu_nic_table(run, rows));
  }
  // For a part of the run it must read all messages: so only on request.
  if (options.by == ReportBy::protocol || (wanted(ReportBy::protocol) && filter.takes_all())) {
    const std::vector<LatencySum> sums = latency_sums(source, filter);
    // A CSV file holds one: the first is the sums of the second.
    if (options.format != Format::csv) all.push_back(protocol_table(run, sums));
    all.push_back(protocol_size_table(run, sums));
  }
  // Left out if no other host was reached. Covers the whole run.
  if (wanted(ReportBy::rails) && filter.takes_all()) {
    const std::vector<NetworkCard> cards = network_cards_of(run);
    if (!for_person || options.by == ReportBy::rails || leaves_hosts(cards)) {
      all.push_back(for_person ? rails_text(cards) : rails_table(cards));
    }
  }
  // Left out if no network card or GPU needs registration.
  if (wanted(ReportBy::registration) &&
      (options.by == ReportBy::registration || (!for_person && filter.takes_all()))) {
    all.push_back(registration_table(run, registration_sums(source, filter)));
    if (options.format != Format::csv) all.push_back(registration_use_table(run));
  }
  if (options.by == ReportBy::connections) {
    const Connections connections =
        connections_of(source, options.limit.value_or(kShownConnections));
    all.push_back(connection_table(run, connections));
    if (options.format != Format::csv) all.push_back(slow_connection_table(run, connections));
  }
  // Left out if no such library was called.
  if (wanted(ReportBy::library) && filter.takes_all() &&
      (options.by == ReportBy::library || source.count<LibraryCallRow>() > 0)) {
    all.push_back(library_table(run, library_sums(source)));
  }
  for (Table& table : all) {
    // The matrix limits its operations itself: its totals cover all.
    const bool matrix = options.format == Format::table && table.key == "contenders";
    if (options.limit && !matrix) table.keep_first(*options.limit);
  }
  return all;
}

void write_left_out(std::ostream& out, const RowSource& source) {
  const std::uint64_t count = count_without_message(source);
  if (count == 0) return;
  out << fmt::format(
      "# left out: {} transfers that serve no message (connection set-up, flushes); "
      "--internal counts them\n",
      count);
}

// Without stacks the caller of each MPI call is known, which may be a library itself.
void write_missing_stacks(std::ostream& out, const Run& run) {
  const auto is_caller_only = [](const CallStack& stack) { return stack.truncated; };
  if (run.stacks.empty()) {
    out << "# no call stacks were recorded; `uctrace record --stacks mpi` records them\n";
  } else if (std::all_of(run.stacks.begin(), run.stacks.end(), is_caller_only)) {
    out << "# these are the places that call MPI, be they in a library; `uctrace record --stacks "
           "mpi` tells who calls it, and finds them behind the libraries of MPI (Fortran)\n";
  }
}

// For tables about the whole run only.
void require_whole_run(const Filter& filter, const char* what, const char* why, const char* to_do) {
  if (!filter.takes_all()) throw Error({.what = what, .why = why, .to_do = to_do});
}

// Whether its table would count transfers without a message, if requested.
bool counts_transfers(ReportBy by) {
  return by != ReportBy::rails && by != ReportBy::registration && by != ReportBy::connections &&
         by != ReportBy::library;
}

// For a report about the whole run, like findings.
bool has_findings(const Filter& filter, const ReportOptions& options) {
  return options.by == ReportBy::all && filter.takes_all();
}

void write_text_report(std::ostream& out, const RowSource& source, const Filter& filter,
                       const std::vector<Table>& all, const ReportOptions& options) {
  const Run& run = source.run();
  write_run_line(out, run);
  write_settings_line(out, run);
  if (has_findings(filter, options)) {
    const std::vector<findings::Finding> found = findings::findings_of(source);
    if (!found.empty()) out << '\n';
    write_findings(out, found,
                   {.folder = options.folder,
                    .colour = options.colour,
                    .limit = options.limit.value_or(kShownFindings)});
  }
  for (const Table& table : all) {
    out << '\n';
    write_text(out, table, options.colour, options.width);
  }
  out << '\n';
  if (options.without_message == WithoutMessage::left_out && counts_transfers(options.by)) {
    write_left_out(out, source);
  }
  if (options.by == ReportBy::all && hides_call_sites(source, filter) && !run.stacks.empty()) {
    out << "# " << kCallSitesHidden << '\n';
  }
  if (options.by == ReportBy::call_sites) write_missing_stacks(out, run);
  if (options.by == ReportBy::rails) {
    for (const std::string& remark : rail_remarks(network_cards_of(run)))
      out << "# " << remark << '\n';
  }
  for (const std::string& note : run.notes) out << "# note: " << note << '\n';
  out << "# " << identities_line(run) << '\n';
}

void write_json_report(std::ostream& out, const RowSource& source, const Filter& filter,
                       const std::vector<Table>& all, const ReportOptions& options) {
  const Run& run = source.run();
  ordered_json report = {{"schema", kInfoSchema}, {"run", run.run_id}};
  if (has_findings(filter, options)) {
    report["findings"] = findings_json(findings::findings_of(source));
  }
  for (const Table& table : all) report[table.key] = to_json(table);
  report["identities"] = identities_json(run);
  report["notes"] = run.notes;
  if (hides_call_sites(source, filter)) report["notes"].push_back(kCallSitesHidden);
  out << dump(report, 2) << '\n';
}

}  // namespace

void write_run_line(std::ostream& out, const Run& run) {
  const RunFacts facts = facts_of(run);
  std::string line = "# " + (facts.command.empty() ? "unknown command" : facts.command);
  for (const std::string& fact :
       {facts.mpi, facts.ucx.empty() ? "" : "UCX " + facts.ucx, facts.started}) {
    if (!fact.empty()) line += " | " + fact;
  }
  out << line
      << fmt::format(" | {} | {} process{} on {} host{}\n", format_duration(facts.duration_ns),
                     facts.processes, facts.processes == 1 ? "" : "es", facts.hosts,
                     facts.hosts == 1 ? "" : "s");
}

void write_settings_line(std::ostream& out, const Run& run) {
  const std::string settings = short_settings(run);
  if (!settings.empty()) out << "# settings: " << settings << '\n';
}

void write_report(std::ostream& out, const RowSource& source, const Filter& filter,
                  const ReportOptions& options) {
  if (options.only_findings) return write_findings_report(out, source, filter, options);
  if (options.format == Format::csv && options.by == ReportBy::all) {
    throw Error(
        {.what = "report as CSV",
         .why = "a CSV file holds one table and the report has several",
         .to_do =
             "add --by contenders, --by mpi, --by pairs, --by call-sites, "
             "--by gpu-nic, --by protocol, --by registration, --by connections, --by library or "
             "--by rails"});
  }
  if (options.by == ReportBy::call_sites && hides_call_sites(source, filter)) {
    throw Error({.what = "report --by call-sites",
                 .why = "of MPI calls only function, communicator and time are known to choose by",
                 .to_do = "choose with --mpi, --comm, --from and --to alone, or use --by mpi"});
  }
  if (options.by == ReportBy::rails) {
    require_whole_run(filter, "report --by rails",
                      "ports count all that they carry, so that no part of the run can be chosen",
                      "leave the filters out; --by gpu-nic takes them");
  }
  if (options.by == ReportBy::connections) {
    require_whole_run(filter, "report --by connections",
                      "endpoints serve many messages, so that no part of them can be chosen",
                      "leave the filters out; the store's table `connections` has each endpoint");
  }
  if (options.by == ReportBy::library) {
    require_whole_run(filter, "report --by library",
                      "a call posts operations for several messages, or for none",
                      "leave the filters out; the store's table `library_calls` has each call");
  }
  const std::vector<Table> all = tables(source, filter, options);
  switch (options.format) {
    case Format::table:
      return write_text_report(out, source, filter, all, options);
    case Format::json:
      return write_json_report(out, source, filter, all, options);
    case Format::csv:
      return write_csv(out, all.front());
    case Format::ndjson:
      for (const Table& table : all) write_ndjson(out, table, all.size() > 1);
  }
}

}  // namespace uctrace

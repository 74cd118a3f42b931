#include "log-merger/reports/findings_output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "event-log/reader/error.hpp"
#include "log-merger/reports/info_output.hpp"

namespace uctrace {

using findings::Finding;

void write_findings(std::ostream& out, const std::vector<Finding>& found,
                    const FindingsOptions& options) {
  if (found.empty()) return;
  out << heading("Findings", options.colour) << '\n';
  const std::size_t shown = std::min(found.size(), options.limit);
  for (std::size_t i = 0; i < shown; ++i) {
    const Finding& finding = found[i];
    out << fmt::format("{:>2}. {}\n    try: {}\n    see: {}  ({})\n", i + 1, finding.what,
                       advice_of(finding, options.folder), command_of(finding, options.folder),
                       finding.rule);
  }
  if (shown < found.size()) {
    out << fmt::format("({} more: uctrace report{}{} --findings)\n", found.size() - shown,
                       options.folder.empty() ? "" : " ", options.folder);
  }
}

nlohmann::ordered_json findings_json(const std::vector<Finding>& found, const std::string& folder) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Finding& finding : found) {
    rows.push_back({{"rule", finding.rule},
                    {"finding", finding.what},
                    {"advice", advice_of(finding, folder)},
                    {"command", command_of(finding, folder)},
                    {"share", finding.share},
                    {"doubts_records", finding.doubts_records},
                    {"evidence", finding.evidence}});
  }
  return rows;
}

Table findings_table(const std::vector<Finding>& found) {
  Table table{.key = "findings",
              .title = "Findings",
              .columns = {{"rule", "rule"},
                          {"finding", "finding"},
                          {"advice", "try"},
                          {"command", "see"},
                          {"share_percent", "share %", Unit::percent}},
              .rows = {}};
  for (const Finding& finding : found) {
    table.rows.push_back({std::string(finding.rule), finding.what, advice_of(finding, ""),
                          command_of(finding, ""), 100 * finding.share});
  }
  return table;
}

void write_findings_report(std::ostream& out, const RowSource& source, const Filter& filter,
                           const ReportOptions& options) {
  if (!filter.takes_all()) {
    throw Error({.what = "report --findings",
                 .why = "findings are about the whole run, and a part of it is chosen",
                 .to_do = "leave the other options out, or --findings"});
  }
  const Run& run = source.run();
  std::vector<Finding> found = findings::findings_of(source);
  const std::size_t limit = options.limit.value_or(SIZE_MAX);
  if (options.format == Format::table) {
    write_run_line(out, run);
    write_settings_line(out, run);
    out << '\n';
    write_findings(out, found,
                   {.folder = options.folder, .colour = options.colour, .limit = limit});
    if (found.empty()) out << "no findings: no rule of docs/findings.md applies\n";
    out << "\n# " << identities_line(run) << '\n';
    return;
  }
  found.resize(std::min(found.size(), limit));
  if (options.format == Format::json) {
    const nlohmann::ordered_json json = {
        {"schema", kInfoSchema}, {"run", run.run_id}, {"findings", findings_json(found)}};
    out << dump(json, 2) << '\n';
    return;
  }
  const Table table = findings_table(found);
  if (options.format == Format::csv) return write_csv(out, table);
  write_ndjson(out, table, false);
}

}  // namespace uctrace

// Findings as a list for a person, and as rows.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "log-merger/findings/finding.hpp"
#include "log-merger/reports/report.hpp"
#include "log-merger/reports/table.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

// Before other output, a few are enough.
inline constexpr std::size_t kShownFindings = 5;

struct FindingsOptions {
  std::string folder;  // for their commands; empty: not needed
  Colour colour = Colour::off;
  std::size_t limit = SIZE_MAX;
};

// With a heading; writes nothing if there are none.
void write_findings(std::ostream& out, const std::vector<findings::Finding>& found,
                    const FindingsOptions& options);

// Rows {rule, finding, advice, command, share, doubts_records, evidence}. Commands for programs
// name no folder: so the same run gives the same bytes everywhere.
nlohmann::ordered_json findings_json(const std::vector<findings::Finding>& found,
                                     const std::string& folder = "");

// The same without the evidence: the sentences contain its numbers.
Table findings_table(const std::vector<findings::Finding>& found);

// `report --findings`. Throws Error if the filter selects a part: findings are about the whole run.
void write_findings_report(std::ostream& out, const RowSource& source, const Filter& filter,
                           const ReportOptions& options);

}  // namespace uctrace

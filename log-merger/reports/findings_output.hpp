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

// In front of something else a few will do.
inline constexpr std::size_t kShownFindings = 5;

struct FindingsOptions {
  std::string folder;  // that their commands name; empty: they need none
  Colour colour = Colour::off;
  std::size_t limit = SIZE_MAX;
};

// With a heading; nothing at all where there is none.
void write_findings(std::ostream& out, const std::vector<findings::Finding>& found,
                    const FindingsOptions& options);

// Rows {rule, finding, advice, command, share, doubts_records, evidence}. For a program commands
// name no folder: the same run gives the same bytes wherever it lies.
nlohmann::ordered_json findings_json(const std::vector<findings::Finding>& found,
                                     const std::string& folder = "");

// The same without the evidence, whose numbers the sentences have, too.
Table findings_table(const std::vector<findings::Finding>& found);

// `report --findings`. Throws Error where the filter chooses a part: they are about the whole run.
void write_findings_report(std::ostream& out, const RowSource& source, const Filter& filter,
                           const ReportOptions& options);

}  // namespace uctrace

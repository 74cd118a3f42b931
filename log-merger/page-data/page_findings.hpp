// Findings, settings and protocols of the page, for the whole run.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

// Rows {rule, finding, advice, command, share, doubts_records}; the commands name `folder`.
nlohmann::ordered_json page_findings_json(const RowSource& source, const std::string& folder);

// Rows {protocol, reach, size, messages, bytes, untimed, median_ns, p99_ns, per_second_bytes}.
nlohmann::ordered_json page_protocols_json(const RowSource& source);

}  // namespace uctrace

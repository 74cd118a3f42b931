// All output about a run, in memory, with checks that hold for any logs.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "event-log/reader/plain_text.hpp"
#include "log-merger/page-data/page_data.hpp"
#include "log-merger/reports/info_output.hpp"
#include "log-merger/reports/messages_output.hpp"
#include "log-merger/reports/report.hpp"

namespace uctrace::fuzz {

// Text of any log reaches a terminal as plain lines.
inline void require_plain(const std::string& output, const char* verb) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (!is_plain(line)) {
      std::fprintf(stderr, "%s wrote a line that is not plain text\n", verb);
      std::abort();
    }
  }
}

inline void show(const Run& run) {
  for (const Format format : {Format::table, Format::csv, Format::json, Format::ndjson}) {
    std::ostringstream messages, report;
    const Filter all(run, {});
    write_messages(messages, run, all, {.format = format});
    require_plain(messages.str(), "messages");
    ReportOptions options;
    options.format = format;
    options.by = format == Format::csv ? ReportBy::pairs : ReportBy::all;
    write_report(report, run, all, options);
    require_plain(report.str(), "report");
  }
  std::ostringstream receipts, info;
  write_messages(receipts, run, Filter(run, {}), {.limit = 20, .detail = Detail::full});
  require_plain(receipts.str(), "messages --id");
  write_info_text(info, run, {});
  require_plain(info.str(), "info");
  require_plain(dump(info_json(run)), "info --format json");
  require_plain(dump(page_data(run)), "view");
}

}  // namespace uctrace::fuzz

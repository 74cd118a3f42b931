// What `uctrace top` prints of a reading: rates, and totals beside them.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>

#include "log-merger/live/live_job.hpp"
#include "log-merger/reports/counter_tables.hpp"

namespace uctrace::live {

struct TopOptions {
  CountersBy by = CountersBy::all;
  Format format = Format::table;
  std::optional<std::size_t> limit;
  Colour colour = Colour::off;
  std::size_t width = kAnyWidth;
};

// One or two lines: which job, how many of its processes count, and what is to be known of them.
// `folder` is plain text.
std::string summary(const Reading& reading, const std::string& folder);

void write_top(std::ostream& out, const Reading& reading, const std::string& folder,
               const TopOptions& options);

}  // namespace uctrace::live

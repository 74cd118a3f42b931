// What `uctrace top` prints of a reading: rates, and totals beside them.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>

#include "log-merger/live/live_folder.hpp"
#include "log-merger/live/rates.hpp"
#include "log-merger/reports/counter_tables.hpp"

namespace uctrace::live {

// In the order in which they are shown.
inline constexpr CountersBy kTopViews[] = {
    CountersBy::pairs, CountersBy::sizes,     CountersBy::transports,    CountersBy::devices,
    CountersBy::gpus,  CountersBy::functions, CountersBy::communicators, CountersBy::processes};

struct TopOptions {
  CountersBy by = CountersBy::all;
  Format format = Format::table;
  std::optional<SortBy> sort;  // none: as rates_table() has it
  std::optional<std::size_t> limit;
  Colour colour = Colour::off;
  std::size_t width = kAnyWidth;
};

// What is shown of a folder.
struct Shown {
  const LiveFolder& jobs;
  const Reading& reading;  // of the job that is shown
  std::string folder;      // plain text
};

// Some lines: which job, how many of its processes count, what is to be known of them, and which
// other jobs count.
std::string summary(const Shown& shown);

void write_top(std::ostream& out, const Shown& shown, const TopOptions& options);

}  // namespace uctrace::live

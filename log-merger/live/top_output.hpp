// The output of `uctrace top` for a reading: rates and totals.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>

#include "log-merger/live/live_folder.hpp"
#include "log-merger/live/rates.hpp"
#include "log-merger/reports/counter_tables.hpp"

namespace uctrace::live {

// In the order of display.
inline constexpr CountersBy kTopViews[] = {
    CountersBy::pairs, CountersBy::sizes,     CountersBy::transports,    CountersBy::devices,
    CountersBy::gpus,  CountersBy::functions, CountersBy::communicators, CountersBy::processes};

struct TopOptions {
  CountersBy by = CountersBy::all;
  Format format = Format::table;
  std::optional<SortBy> sort;  // none: the order of rates_table()
  std::optional<std::size_t> limit;
  Colour colour = Colour::off;
  std::size_t width = kAnyWidth;
};

// What to show of a folder.
struct Shown {
  const LiveFolder& jobs;
  const Reading& reading;  // of the displayed job
  std::string folder;      // plain text
};

// Some lines: the job, how many of its processes count, remarks on them, and other jobs that count.
std::string summary(const Shown& shown);

void write_top(std::ostream& out, const Shown& shown, const TopOptions& options);

}  // namespace uctrace::live

// Tables of the counters of a job.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "event-log/reader/counter_matrix.hpp"
#include "log-merger/reports/table.hpp"

namespace uctrace {

enum class CountersBy : std::uint8_t {
  all,
  pairs,
  sizes,
  transports,
  devices,
  gpus,
  functions,
  communicators,
  processes,
};

struct CountersOptions {
  CountersBy by = CountersBy::all;
  Format format = Format::table;
  std::optional<std::size_t> limit;
  Colour colour = Colour::off;
  std::size_t width = kAnyWidth;  // columns that a table may take
};

Table counters_table(const std::vector<log::CounterSnapshot>& job, CountersBy by);

// One table, or all of them: as JSON an object with an array for each.
void write_counters(std::ostream& out, const std::vector<log::CounterSnapshot>& job,
                    const CountersOptions& options);

}  // namespace uctrace

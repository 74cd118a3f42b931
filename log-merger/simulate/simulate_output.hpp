// What `uctrace simulate` prints.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>

#include "log-merger/reports/table.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/simulate/hypotheses.hpp"

namespace uctrace {

struct SimulateOptions {
  Format format = Format::table;
  std::optional<std::size_t> limit = {};  // ranks
  Colour colour = Colour::off;
  std::size_t width = kAnyWidth;  // of text
};

// Throws Error as simulate() does.
void write_simulation(std::ostream& out, const RowSource& source, const Hypotheses& hypotheses,
                      const SimulateOptions& options);

}  // namespace uctrace

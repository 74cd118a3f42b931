// The run's values for options, for completion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

// Options whose values come from a run, without their dashes.
std::vector<std::string> options_with_values();

// The values for an option, sorted; empty for other options.
std::vector<std::string> values_of_run(const RowSource& source, std::string_view option);

}  // namespace uctrace

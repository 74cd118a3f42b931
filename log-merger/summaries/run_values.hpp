// Values that a run has where options ask for one: for completion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

// Options of which the values are those of a run, without their dashes.
std::vector<std::string> options_with_values();

// Those of an option, sorted; none for another one.
std::vector<std::string> values_of_run(const RowSource& source, std::string_view option);

}  // namespace uctrace

// Costs of levels of `uctrace placement` as users write them.
#pragma once

#include <string>

#include "placement/machine.hpp"

namespace uctrace::cli {

// LEVEL=N with commas between them, of node, package and core: node=100,package=10. Throws Error
// for text that it cannot parse, and if a larger distance would cost less.
placement::LevelCosts parse_level_costs(const std::string& text);

}  // namespace uctrace::cli

// What standard output is, and how the tool behaves on it.
#pragma once

#include "log-merger/reports/table.hpp"

namespace uctrace::cli {

// On for a terminal, or where CLICOLOR_FORCE asks for it; NO_COLOR has the last word.
Colour colour_of_output();

// A reader that has seen enough (`| head`) ends this process without a word. Not for `record`: its
// program inherits what it does to signals.
void end_quietly_on_closed_pipe();

}  // namespace uctrace::cli

// The programs that a build needs.
#pragma once

#include "cli/build_ucx/source.hpp"

namespace uctrace::cli::build_ucx {

// Throws Error that names all that are missing, with the line that installs them.
void require_tools(Source::Kind kind);

}  // namespace uctrace::cli::build_ucx

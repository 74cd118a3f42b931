// Which libraries are communication layers rather than parts of the program.
#pragma once

#include <string_view>

namespace uctrace::merge {

// Whether the file is a library of MPI or UCX, a plug-in or language binding of one, or a lower
// layer. Matches the whole name, because programs have libraries with similar prefixes (libopenmc,
// libmpi_wrappers).
bool is_communication_library(std::string_view path);

}  // namespace uctrace::merge

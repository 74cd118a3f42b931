// Which libraries are a program's means of communication, and not a part of it.
#pragma once

#include <string_view>

namespace uctrace::merge {

// Whether the file of this path is a library of MPI or UCX, a plug-in or language binding of one,
// or what they stand on: the program calls it. By its whole name, for programs have libraries of
// their own whose names begin alike (libopenmc, libmpi_wrappers).
bool is_communication_library(std::string_view path);

}  // namespace uctrace::merge

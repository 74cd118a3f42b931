// Rows of a run by the names used in options, as choose() (filter.hpp) takes them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "log-merger/model/model.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

using RowsByName = std::multimap<std::string, std::int32_t>;

RowsByName processes_by_rank(const Run& run);      // into processes, by their labels
RowsByName processes_by_host(const Run& run);      // into processes
RowsByName communicators_by_name(const Run& run);  // into communicators, by names of either kind

// The called MPI functions.
std::multimap<std::string, TextId> called_functions_by_name(const RowSource& source);

}  // namespace uctrace

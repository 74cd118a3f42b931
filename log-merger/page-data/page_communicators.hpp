// The communicators of the whole run, and what their calls cost.
#pragma once

#include <nlohmann/json.hpp>

#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

// {rows, left_out, ns}: rows {name, called, made_by, parent, size, remote_size, shares_name, calls,
// ns, waiting_ns}, the longest first. Calls and times are those of `uctrace comms --by comm`; a row
// without a name has those of calls on no communicator. shares_name: another communicator has the
// name that messages use for this one. `ns` is the time of all rows, including those left out.
nlohmann::ordered_json page_communicators_json(const RowSource& source);

}  // namespace uctrace

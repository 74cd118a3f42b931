// What the lines of the program cost, and which rank came late to which of them, for the whole run.
#pragma once

#include <nlohmann/json.hpp>

#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

// {rows, left_out}: rows {site, mpi, calls, ns, waiting_ns, ranks}, the longest waiting first, then
// the longest. The sums are those of `uctrace comms --by call-site,op`, and those of UCP calls
// outside of MPI.
nlohmann::ordered_json page_call_sites_json(const RowSource& source);

// {rows, left_out, ns}: rows {process, mpi, site, waits, direct_ns, passed_on_ns}, the greatest
// delay first, as in `uctrace waits`; `ns` is all waiting time that these delays cause.
nlohmann::ordered_json page_delays_json(const Run& run);

}  // namespace uctrace

// The tables of a report about messages, MPI functions and calls, from their totals.
#pragma once

#include <optional>
#include <vector>

#include "log-merger/reports/report.hpp"
#include "log-merger/reports/table.hpp"

namespace uctrace {

Table contender_table(const Run& run, const std::vector<Contender>& rows);
// Table II of the ucTrace paper: a row per operation, a column per transport, totals on both sides.
// `limit` keeps the operations that carried most.
Table contender_matrix(const Run& run, const std::vector<Contender>& rows,
                       std::optional<std::size_t> limit);

Table function_table(const Run& run, const std::vector<FunctionTotal>& rows);
Table pair_table(const Run& run, const std::vector<PairTotal>& rows);

Table call_site_table(const Run& run, const std::vector<CallSiteTotal>& rows);
// What a person sees of it: the label holds the rest.
Table call_site_text(const Run& run, const std::vector<CallSiteTotal>& rows);

}  // namespace uctrace

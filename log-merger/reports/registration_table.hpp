// The tables of `uctrace report --by registration`.
#pragma once

#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/reports/table.hpp"
#include "log-merger/summaries/registrations.hpp"

namespace uctrace {

Table registration_table(const Run& run, const std::vector<RegistrationSum>& sums);
// How often operations found their memory registered, by memory domain. Of the whole run.
Table registration_use_table(const Run& run);

}  // namespace uctrace

// The cost of registration calls by memory domain and function, and how often operations found
// their memory registered (docs/registration.md).
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

// Longest own time first. A filter keeps calls for the messages that it selects.
std::vector<RegistrationSum> registration_sums(const RowSource& source, const Filter& filter);

// Of a memory domain, over all processes.
struct DomainUse {
  TextId memory_domain = kNoText;
  std::uint64_t operations = 0, registered = 0, live = 0, live_bytes = 0;
};
std::vector<DomainUse> uses_by_domain(const Run& run);

namespace merge {

// Fills Run::registration_sums of a run that has its calls.
void lay_out_registrations(Run& run);

}  // namespace merge

}  // namespace uctrace

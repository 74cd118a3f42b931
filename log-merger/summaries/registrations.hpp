// What calls that make memory known cost, by memory domain and function, and how often operations
// found their memory registered (docs/registration.md).
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

struct RegistrationTotal {
  TextId memory_domain = kNoText;  // kNoText: UCP, for all domains
  TextId function = kNoText;
  MemoryKind memory = MemoryKind::unknown;
  std::uint64_t calls = 0, failed = 0;
  std::uint64_t bytes = 0;       // of calls that succeeded and say which memory they are about
  std::uint64_t first_uses = 0;  // registrations of memory that the domain never had
  std::uint64_t messages = 0;    // that calls were made for
  std::int64_t ns = 0, max_ns = 0;
  std::int64_t own_ns = 0;  // of `ns`: of calls that are not made inside other ones of this table
};

// The longest own time first. A filter keeps what was made for the messages that it selects.
std::vector<RegistrationTotal> registration_totals(const RowSource& source, const Filter& filter);

// Of a memory domain, over all processes.
struct DomainUse {
  TextId memory_domain = kNoText;
  std::uint64_t operations = 0, registered = 0, live = 0, live_bytes = 0;
};
std::vector<DomainUse> uses_by_domain(const Run& run);

}  // namespace uctrace

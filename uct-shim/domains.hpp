// The names of memory domains: UCT tells them only to the opening call.
#pragma once

#include <uct/api/uct.h>

#include <cstddef>
#include <cstdint>

namespace uctrace::uct {

constexpr std::size_t kDomainNameBytes = 16;

// Writes `name`; empty if not known. For slow paths: it takes a lock.
void name_domain(uct_md_h domain, char (&name)[kDomainNameBytes]);

// Whether the name of a domain, or of a key's component, must still be written to the log, whose
// records have only the handle. False: the log has it; that costs up to four loads.
bool tell_domain(uct_md_h domain);
bool tell_component(uct_component_h component, const void* caller);

}  // namespace uctrace::uct

// The names of memory domains: UCT tells them only to the one who opens.
#pragma once

#include <uct/api/uct.h>

#include <cstddef>
#include <cstdint>

namespace uctrace::uct {

constexpr std::size_t kDomainNameBytes = 16;

// Into `name`; empty where it is not known. For slow paths: it takes a lock.
void name_domain(uct_md_h domain, char (&name)[kDomainNameBytes]);

// Sees to it that the log has the name of a domain, or of the component of a key, whose handle its
// records have. False: the log has it, which costs up to four loads.
bool tell_domain(uct_md_h domain);
bool tell_component(uct_component_h component, const void* caller);

}  // namespace uctrace::uct

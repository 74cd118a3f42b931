// Calls that make memory known to others: which operation each was made for, which of them are part
// of another one, and how long each registration lasted. docs/registration.md has the rules.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// After the transfers were attributed, while ids are known: fills what MemoryCall has for results.
void link_memory_calls(Job& job);

// Makes Run::memory_calls and Run::registration_uses, and what messages spent on registration. When
// messages have their rows, and before UCT operations go.
void add_memory_calls(Job& job);

// Makes Run::kernel_accesses, and a note where there are some.
void add_kernel_accesses(Job& job);

// What waits have of it. After the waits were found.
void add_registration_to_waits(Job& job);

}  // namespace uctrace::merge

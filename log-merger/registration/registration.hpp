// Links registration calls: the operation that each was made for, nested calls, and the lifetime of
// registrations. docs/registration.md has the rules.
#pragma once

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// After the transfers were attributed, while ids are known: fills the results in MemoryCall.
void link_memory_calls(Job& job);

// Makes Run::memory_calls and Run::registration_uses, and the registration times of messages. After
// messages have their rows, and before UCT operations are dropped.
void add_memory_calls(Job& job);

// Makes Run::kernel_accesses, and a note if there are any.
void add_kernel_accesses(Job& job);

// Sets the registration times of waits. After the waits were found.
void add_registration_to_waits(Job& job);

}  // namespace uctrace::merge

// What a fork child has from its parent: memory that was registered before the fork. Private to
// log-merger/registration/ and its tests.
#pragma once

#include <cstddef>
#include <vector>

#include "log-merger/job/memory_calls.hpp"

namespace uctrace::merge {

// How many of `ends`, deregistrations of a fork child, end a registration of `parent`, the calls of
// the process that it was forked from: one with the same memory domain and handle that began before
// the end did. A child has its own copy of each registration, so each is ended at most once. The
// records do not say when the fork was, so a registration that the parent ended earlier counts as
// well. Needs ticks of one clock: parent and child run on one host. O((calls + ends) log calls).
std::size_t count_inherited(const std::vector<MemoryCall>& parent,
                            const std::vector<const MemoryCall*>& ends);

}  // namespace uctrace::merge

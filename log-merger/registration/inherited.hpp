// What a fork child has from its parent: memory that was registered before the fork. Private to
// log-merger/registration/ and its tests.
#pragma once

#include <cstddef>
#include <vector>

#include "log-merger/job/memory_calls.hpp"

namespace uctrace::merge {

// How many of `ends`, deregistrations of a fork child, end a registration of `parent`, the calls of
// the process that it was forked from: one with the same memory domain and handle that began before
// the end did. A child has its own copy of each registration, so each is ended at most once. When
// the fork was is not recorded: a registration that the parent had ended before it counts as well.
// Both clocks are the same. O((calls + ends) log calls).
std::size_t count_inherited(const std::vector<MemoryCall>& parent,
                            const std::vector<const MemoryCall*>& ends);

}  // namespace uctrace::merge

// Rules for registration calls: nesting, pairs of begin and end, and first use of memory. Private
// to log-merger/registration/ and its tests.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/job/memory_calls.hpp"

namespace uctrace::merge {

// Sets `outermost` and `repeats`. A call inside another one of its lane begins no sooner and ends
// no later. Sorts the calls by lane and time. O(n log n).
void find_inner_calls(std::vector<MemoryCall>& calls);

// Deregistrations, and those of them that end no registration of these calls, by time. The pointers
// are valid until the calls are sorted or moved.
struct PairedEnds {
  std::uint64_t ends = 0;
  std::vector<const MemoryCall*> unmatched;
  std::uint64_t matched() const { return ends - unmatched.size(); }
};

// Sets `until_tick` of registrations and attachments, in the order of time: a memory domain may
// give all of them the same handle, so each end belongs to the oldest open one. Needs `repeats`.
// Sorts the calls by time. O(n log n).
PairedEnds pair_ends(std::vector<MemoryCall>& calls);

// Sets `first_use` of registrations: no byte of the memory was registered before with the domain of
// this name. Needs `repeats`, and calls sorted by time. O(n log n).
void find_first_uses(std::vector<MemoryCall>& calls);

}  // namespace uctrace::merge

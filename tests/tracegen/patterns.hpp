// Which ranks exchange messages. A pattern has slots; in each a rank sends to at most one other and
// receives from at most one: `to` of the one side is `from` of the other.
#pragma once

#include <cstdint>

namespace uctrace::tracegen {

enum class Pattern : std::uint8_t {
  stencil,     // four neighbours on a torus
  ring,        // one slot: so many ranks on
  pairs,       // even ranks send to the next one, then the other way round
  random,      // permutations of all ranks
  all_to_all,  // a slot a distance
  binomial,    // a tree from rank 0
  doubling     // a slot a power of two: to the rank so far on
};

struct Neighbours {
  std::int32_t to = -1, from = -1;  // -1: none
};

// How many slots a pattern has among `size` ranks. `all_to_all` has at most kMostDistances.
inline constexpr std::uint32_t kMostDistances = 16;
std::uint32_t slots_of(Pattern pattern, std::int32_t size);

// `choice` selects the ring or permutation of a step.
Neighbours neighbours(Pattern pattern, std::uint32_t slot, std::int32_t rank, std::int32_t size,
                      std::uint64_t choice);

}  // namespace uctrace::tracegen

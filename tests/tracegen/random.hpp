// Choices that are the same on every machine and in any order of evaluation: a choice is a function
// of the seed and of its subject, without state. So each process of a job can be generated
// separately and still agrees with the others.
#pragma once

#include <cstdint>

namespace uctrace::tracegen {

constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The words that a choice is about, in order.
template <typename... Words>
constexpr std::uint64_t hash_of(std::uint64_t first, Words... rest) {
  std::uint64_t h = mix(first);
  ((h = mix(h ^ static_cast<std::uint64_t>(rest))), ...);
  return h;
}

// A number below `count` (at most 2^32), from the upper half of a hash.
constexpr std::uint64_t below(std::uint64_t hash, std::uint64_t count) {
  return (hash >> 32) * count >> 32;
}

}  // namespace uctrace::tracegen

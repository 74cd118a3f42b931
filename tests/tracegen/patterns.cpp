#include "tests/tracegen/patterns.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tests/tracegen/random.hpp"

namespace uctrace::tracegen {
namespace {

constexpr std::uint32_t kPermutations = 2;  // slots of Pattern::random

std::int32_t wrap(std::int64_t rank, std::int32_t size) {
  const auto left = static_cast<std::int32_t>(rank % size);
  return left < 0 ? left + size : left;
}

Neighbours shifted(std::int32_t by, std::int32_t rank, std::int32_t size) {
  return {wrap(std::int64_t{rank} + by, size), wrap(std::int64_t{rank} - by, size)};
}

// The largest divisor that is not above the square root: a torus as square as can be.
std::int32_t columns_of(std::int32_t size) {
  auto columns = static_cast<std::int32_t>(std::sqrt(static_cast<double>(size)));
  while (columns > 1 && size % columns != 0) --columns;
  return std::max(columns, 1);
}

Neighbours on_torus(std::uint32_t slot, std::int32_t rank, std::int32_t size) {
  const std::int32_t columns = columns_of(size), rows = size / columns;
  const std::int32_t step = slot % 2 == 0 ? 1 : -1;
  const std::int32_t column = rank % columns, row = rank / columns;
  if (slot < 2) {
    if (columns == 1) return {};
    return {row * columns + wrap(column + step, columns),
            row * columns + wrap(column - step, columns)};
  }
  if (rows == 1) return {};
  return {wrap(row + step, rows) * columns + column, wrap(row - step, rows) * columns + column};
}

// x -> a x + b, a permutation where a and the size have no common divisor.
Neighbours permuted(std::int32_t rank, std::int32_t size, std::uint64_t choice) {
  if (size == 1) return {0, 0};
  auto a = static_cast<std::int64_t>(1 + below(choice, static_cast<std::uint64_t>(size) - 1));
  while (std::gcd(a, std::int64_t{size}) != 1) a = a % size + 1;
  const auto b = static_cast<std::int64_t>(below(mix(choice), static_cast<std::uint64_t>(size)));
  // Extended Euclid: the inverse of a.
  std::int64_t inverse = 0, next = 1, r = size, left = a;
  while (left != 0) {
    const std::int64_t quotient = r / left;
    inverse = std::exchange(next, inverse - quotient * next);
    r = std::exchange(left, r - quotient * left);
  }
  return {wrap(a * rank + b, size), wrap(inverse * wrap(rank - b, size), size)};
}

}  // namespace

std::uint32_t slots_of(Pattern pattern, std::int32_t size) {
  const auto ranks = static_cast<std::uint32_t>(size);
  switch (pattern) {
    case Pattern::stencil:
      return 4;
    case Pattern::ring:
      return 1;
    case Pattern::pairs:
      return 2;
    case Pattern::random:
      return kPermutations;
    case Pattern::all_to_all:
      return std::min(ranks, kMostDistances);
    case Pattern::binomial:
    case Pattern::doubling: {
      std::uint32_t slots = 0;
      while (std::uint32_t{1} << slots < ranks) ++slots;
      return slots;
    }
  }
  return 0;
}

Neighbours neighbours(Pattern pattern, std::uint32_t slot, std::int32_t rank, std::int32_t size,
                      std::uint64_t choice) {
  switch (pattern) {
    case Pattern::stencil:
      return on_torus(slot, rank, size);
    case Pattern::ring: {
      const auto others = static_cast<std::uint64_t>(std::max(size - 1, 1));
      return shifted(static_cast<std::int32_t>(1 + below(choice, others)), rank, size);
    }
    case Pattern::pairs: {
      const std::int32_t other = rank ^ 1;
      if (other >= size) return {};
      return rank % 2 == static_cast<std::int32_t>(slot) ? Neighbours{other, -1}
                                                         : Neighbours{-1, other};
    }
    case Pattern::random:
      return permuted(rank, size, hash_of(choice, slot));
    case Pattern::all_to_all:
      return shifted(static_cast<std::int32_t>(slot), rank, size);
    case Pattern::binomial: {
      const std::int64_t reached = std::int64_t{1} << slot;
      if (rank < reached) {
        return {rank + reached < size ? static_cast<std::int32_t>(rank + reached) : -1, -1};
      }
      return {-1, rank < 2 * reached ? static_cast<std::int32_t>(rank - reached) : -1};
    }
    case Pattern::doubling:
      return shifted(static_cast<std::int32_t>(std::int64_t{1} << slot), rank, size);
  }
  return {};
}

}  // namespace uctrace::tracegen

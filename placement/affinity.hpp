// How much traffic ranks share: a symmetric matrix of weights that keeps only non-zero entries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace uctrace::placement {

using RankNumber = std::uint32_t;

struct Tie {
  RankNumber with = 0;
  std::uint64_t weight = 0;
};

// From a list of ties in any order; a tie may occur several times.
struct Pair {
  RankNumber a = 0, b = 0;
  std::uint64_t weight = 0;
};

class Affinity {
 public:
  // Leaves out pairs of a rank with itself and pairs without weight. Weights of the same two ranks
  // are added up, in whichever order they are named. Sums stop at 2^64 - 1.
  Affinity(std::size_t ranks, std::vector<Pair> pairs);

  std::size_t ranks() const { return first_.size() - 1; }
  std::span<const Tie> of(RankNumber rank) const {
    return std::span(ties_).subspan(first_[rank], first_[rank + 1] - first_[rank]);
  }
  std::size_t ties() const { return ties_.size(); }  // each counted at both ends
  std::uint64_t total() const { return total_; }     // each pair once
  // Between these ranks alone, numbered by their places in the list.
  Affinity among(std::span<const RankNumber> some) const;

 private:
  std::vector<std::size_t> first_;
  std::vector<Tie> ties_;
  std::uint64_t total_ = 0;
};

// a + b, or 2^64 - 1 where that is less.
constexpr std::uint64_t add_up(std::uint64_t a, std::uint64_t b) {
  return a + b < a ? UINT64_MAX : a + b;
}

}  // namespace uctrace::placement

#include "placement/affinity.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace uctrace::placement {

Affinity::Affinity(std::size_t ranks, std::vector<Pair> pairs) : first_(ranks + 1, 0) {
  for (Pair& pair : pairs) {
    if (pair.a > pair.b) std::swap(pair.a, pair.b);
  }
  std::erase_if(pairs, [](const Pair& pair) { return pair.a == pair.b || pair.weight == 0; });
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair& x, const Pair& y) { return std::tie(x.a, x.b) < std::tie(y.a, y.b); });
  std::size_t kept = 0;
  for (const Pair& pair : pairs) {
    if (kept != 0 && pairs[kept - 1].a == pair.a && pairs[kept - 1].b == pair.b) {
      pairs[kept - 1].weight = add_up(pairs[kept - 1].weight, pair.weight);
    } else {
      pairs[kept++] = pair;
    }
  }
  pairs.resize(kept);
  for (const Pair& pair : pairs) {
    ++first_[pair.a + 1];
    ++first_[pair.b + 1];
    total_ = add_up(total_, pair.weight);
  }
  for (std::size_t i = 0; i < ranks; ++i) first_[i + 1] += first_[i];
  ties_.resize(first_[ranks]);
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for (const Pair& pair : pairs) {
    ties_[next[pair.a]++] = {pair.b, pair.weight};
    ties_[next[pair.b]++] = {pair.a, pair.weight};
  }
}

Affinity Affinity::among(std::span<const RankNumber> some) const {
  constexpr RankNumber kNotAmong = UINT32_MAX;
  std::vector<RankNumber> number(ranks(), kNotAmong);
  for (std::size_t i = 0; i < some.size(); ++i) number[some[i]] = static_cast<RankNumber>(i);
  std::vector<Pair> pairs;
  for (const RankNumber rank : some) {
    for (const Tie& tie : of(rank)) {
      if (number[tie.with] != kNotAmong && rank < tie.with) {
        pairs.push_back({number[rank], number[tie.with], tie.weight});
      }
    }
  }
  return Affinity(some.size(), std::move(pairs));
}

}  // namespace uctrace::placement

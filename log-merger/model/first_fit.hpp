// Finds the first of many ranges that has begun and contains another range, without visiting all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace uctrace::merge {

// A segment tree over entries in insertion order. Each node knows the earliest instant, the lowest
// begin and the highest end below it, so that whole parts that cannot fit are skipped. Without a
// range to contain, or with equal or disjoint ranges in order, a search takes logarithmic time.
class FirstFit {
 public:
  static constexpr std::size_t kNothing = SIZE_MAX;
  // In the worst case no node can exclude its subtree. A search gives up after this many nodes;
  // then nothing is claimed.
  static constexpr std::size_t kMaxLooks = 4096;

  struct Entry {
    std::int64_t since_ns = INT64_MIN;
    std::uint64_t begin = 0, end = UINT64_MAX;
  };

  // All adding comes before the first search.
  void add(const Entry& entry) { nodes_.push_back(entry); }

  // The first that began at or before `at_ns` and contains [begin, end).
  std::size_t find(std::int64_t at_ns, std::uint64_t begin = 0, std::uint64_t end = 0) {
    if (nodes_.empty()) {
      return kNothing;
    }
    build();
    looks_ = 0;
    return find_below(1, {at_ns, begin, end});
  }

  // No search finds it again.
  void remove(std::size_t place) {
    build();
    std::size_t node = leaves_ + place;
    nodes_[node] = kEmpty;
    for (node /= 2; node > 0; node /= 2) {
      sum_up(node);
    }
  }

 private:
  static constexpr Entry kEmpty{INT64_MAX, UINT64_MAX, 0};

  void build() {
    if (leaves_ != 0) {
      return;
    }
    leaves_ = 1;
    while (leaves_ < nodes_.size()) {
      leaves_ *= 2;
    }
    std::vector<Entry> tree(2 * leaves_, kEmpty);
    std::copy(nodes_.begin(), nodes_.end(), tree.begin() + static_cast<std::ptrdiff_t>(leaves_));
    nodes_ = std::move(tree);
    for (std::size_t node = leaves_ - 1; node > 0; --node) {
      sum_up(node);
    }
  }

  void sum_up(std::size_t node) {
    const Entry &left = nodes_[2 * node], &right = nodes_[2 * node + 1];
    nodes_[node] = {std::min(left.since_ns, right.since_ns), std::min(left.begin, right.begin),
                    std::max(left.end, right.end)};
  }

  std::size_t find_below(std::size_t node, const Entry& wanted) {
    const Entry& here = nodes_[node];
    if (here.since_ns > wanted.since_ns || here.begin > wanted.begin || here.end < wanted.end ||
        ++looks_ > kMaxLooks) {
      return kNothing;
    }
    if (node >= leaves_) {
      return node - leaves_;
    }
    const std::size_t left = find_below(2 * node, wanted);
    return left != kNothing ? left : find_below(2 * node + 1, wanted);
  }

  std::vector<Entry> nodes_;  // the entries; after the first search the tree, with its root at 1
  std::size_t leaves_ = 0, looks_ = 0;
};

}  // namespace uctrace::merge

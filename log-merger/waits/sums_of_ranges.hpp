// An array with range additions in logarithmic time (a Fenwick tree of differences). Private to the
// waits.
#pragma once

#include <cstddef>
#include <vector>

namespace uctrace::merge {

class SumsOfRanges {
 public:
  SumsOfRanges() = default;
  explicit SumsOfRanges(std::size_t count) : tree_(count + 2) {}

  // Adds to [first, end).
  void add(std::size_t first, std::size_t end, double value) {
    if (first >= end) return;
    step(first, value);
    step(end, -value);
  }

  double at(std::size_t place) const {
    double sum = 0;
    for (std::size_t i = place + 1; i > 0; i &= i - 1) sum += tree_[i];
    return sum;
  }

 private:
  void step(std::size_t place, double value) {
    for (std::size_t i = place + 1; i < tree_.size(); i += i & (~i + 1)) tree_[i] += value;
  }

  std::vector<double> tree_;
};

}  // namespace uctrace::merge

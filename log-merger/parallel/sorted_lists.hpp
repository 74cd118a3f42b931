// Sorted lists as one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "log-merger/parallel/workers.hpp"

namespace uctrace {

// Merges several sorted lists; equal entries in the order of the lists. Pairs of lists are merged
// in parallel until one is left: the last step runs on one thread, and takes as long as all earlier
// steps on two.
template <typename Value>
std::vector<Value> merge_sorted(std::vector<std::vector<Value>> lists, const Workers& workers) {
  while (lists.size() > 1) {
    std::vector<std::vector<Value>> joined((lists.size() + 1) / 2);
    workers.each(joined.size(), [&](std::size_t i) {
      std::vector<Value>& first = lists[2 * i];
      if (2 * i + 1 == lists.size()) {
        joined[i] = std::move(first);
        return;
      }
      std::vector<Value>& second = lists[2 * i + 1];
      joined[i].resize(first.size() + second.size());
      std::merge(first.begin(), first.end(), second.begin(), second.end(), joined[i].begin());
      first = {};
      second = {};
    });
    lists = std::move(joined);
  }
  return lists.empty() ? std::vector<Value>() : std::move(lists.front());
}

}  // namespace uctrace

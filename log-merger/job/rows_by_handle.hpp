// Rows of things that a program names by a handle, which may be given again when one is gone.
// Private to log-merger/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "log-merger/model/index.hpp"

namespace uctrace::merge {

template <typename Row>
void sort_by_handle(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.handle != b.handle ? a.handle < b.handle : a.tick < b.tick;
  });
}

// Newest row of `rows` (sorted by handle, then tick) with this handle, not later than `tick`.
template <typename Row>
Index row_at(const std::vector<Row>& rows, std::uint64_t handle, std::uint64_t tick) {
  Index found = kNone;
  Index low = 0, high = static_cast<Index>(rows.size());
  while (low < high) {
    const Index middle = (low + high) / 2;
    const Row& row = rows[static_cast<std::size_t>(middle)];
    if (row.handle < handle || (row.handle == handle && row.tick <= tick)) {
      found = row.handle == handle ? middle : found;
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return found;
}

}  // namespace uctrace::merge

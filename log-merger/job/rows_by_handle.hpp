// Rows of objects that a program names by a handle, which may be reused. Private to log-merger/.
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

// Newest row of `rows` (sorted by handle, then tick) with this handle, no later than `tick`.
template <typename Row>
IndexOf<Row> row_at(const Rows<Row>& rows, std::uint64_t handle, std::uint64_t tick) {
  IndexOf<Row> found;
  std::size_t low = 0, high = rows.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const Row& row = rows[middle];
    if (row.handle < handle || (row.handle == handle && row.tick <= tick)) {
      if (row.handle == handle) found = IndexOf<Row>(middle);
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return found;
}

}  // namespace uctrace::merge

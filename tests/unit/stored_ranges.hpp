// Ranges of rows such as a store holds: one row's behind that of the row before it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/store/store_ranges.hpp"

namespace uctrace {

// Into tables of `end` rows, each of at most `longest`. below(n) is a number from 0 to n - 1.
template <typename Below>
void lay_out_ranges(Run& run, std::size_t end, std::size_t longest, Below below) {
  store::for_each_of(store::kTables, [&]<typename Row>(std::vector<Row> Run::*rows) {
    if constexpr (store::kHasRange<Row>) {
      constexpr store::Range<Row> range = store::range_of<Row>();
      std::size_t used = 0;
      for (Row& row : run.*rows) {
        const std::size_t count = below(std::min(end - used, longest) + 1);
        row.*range.first = static_cast<std::uint32_t>(used);
        row.*range.count = static_cast<std::uint32_t>(count);
        used += count;
      }
    }
  });
}

}  // namespace uctrace

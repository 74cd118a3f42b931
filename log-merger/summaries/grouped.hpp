// Sums of rows by what they agree in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace uctrace {

// Sorts rows that are sums themselves: `Sum::key()` tells which belong together, and `+=` joins
// those. Costs a pass where nothing is to be done.
template <typename Sum>
void sort_and_join(std::vector<Sum>& rows) {
  const auto is_in_order = [](const Sum& a, const Sum& b) { return a.key() < b.key(); };
  const auto breaks_order = [&](const Sum& a, const Sum& b) { return !is_in_order(a, b); };
  if (std::adjacent_find(rows.begin(), rows.end(), breaks_order) == rows.end()) return;
  std::stable_sort(rows.begin(), rows.end(), is_in_order);
  std::size_t last = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[last].key() == rows[i].key()) {
      rows[last] += rows[i];
    } else {
      rows[++last] = rows[i];
    }
  }
  rows.resize(last + 1);
}

// Such rows, in a list that is sorted and joined whenever it has doubled: it costs no memory but
// that of its rows, also where nearly all differ.
template <typename Sum>
class Grouped {
 public:
  // Of so many rows. Room that is not used takes no memory.
  explicit Grouped(std::size_t rows) { rows_.reserve(std::max(rows, kAtLeast)); }

  void add(const Sum& row) {
    if (!rows_.empty() && rows_.back().key() == row.key()) {
      rows_.back() += row;  // alike rows often follow each other
      return;
    }
    rows_.push_back(row);
    if (rows_.size() >= next_join_) {
      sort_and_join(rows_);
      next_join_ = std::max(kAtLeast, 2 * rows_.size());
    }
  }

  // In the order of their keys.
  std::vector<Sum> finish() {
    sort_and_join(rows_);
    return std::move(rows_);
  }

 private:
  static constexpr std::size_t kAtLeast = 16 * 1024;

  std::vector<Sum> rows_;
  std::size_t next_join_ = kAtLeast;
};

}  // namespace uctrace

// Identifies windows and files across processes. For the waits and hangs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// All processes make the windows of a communicator, and open its files, in the same order: so they
// are identified by their number within the communicator.
class NumbersOfObjects {
 public:
  explicit NumbersOfObjects(const Rows<CommObject>& objects) : numbers_(objects.size()) {
    std::vector<IndexOf<CommObject>> order = objects.indexes().list();
    const auto key = [&](IndexOf<CommObject> object) {
      return std::tuple(objects[object].comm, objects[object].tick);
    };
    std::sort(order.begin(), order.end(),
              [&](IndexOf<CommObject> a, IndexOf<CommObject> b) { return key(a) < key(b); });
    std::size_t first = 0;  // of the communicator
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (objects[order[i]].comm != objects[order[first]].comm) first = i;
      const bool is_next = i == first || key(order[i]) != key(order[i - 1]);
      numbers_[order[i]] = is_next ? static_cast<std::int32_t>(i - first) : numbers_[order[i - 1]];
    }
  }

  std::int32_t of(IndexOf<CommObject> object) const { return numbers_[object]; }

 private:
  ByIndex<CommObject, std::int32_t> numbers_;
};

}  // namespace uctrace::merge

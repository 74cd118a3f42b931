// Puts operations that overlap in time on as few lanes as possible; on each lane they do not
// overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace uctrace::exports {

class Lanes {
 public:
  // The first lane that is free from start to end. Starts must ascend: otherwise the operation gets
  // a lane of its own.
  std::size_t take(std::int64_t start_ns, std::int64_t end_ns);

 private:
  using Busy = std::pair<std::int64_t, std::size_t>;  // until when, lane
  template <typename Item>
  using SmallestFirst = std::priority_queue<Item, std::vector<Item>, std::greater<>>;

  std::size_t first_free(std::int64_t start_ns);

  std::vector<std::int64_t> busy_until_;  // by lane
  SmallestFirst<Busy> busy_;
  SmallestFirst<std::size_t> free_;  // before last_start_ns_
  std::int64_t last_start_ns_ = INT64_MIN;
};

}  // namespace uctrace::exports

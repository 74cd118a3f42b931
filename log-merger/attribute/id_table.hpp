// What the ids on the wire meant at which time. Private to attribute.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// An instant and the UCP operation that an id meant from then on.
struct Meaning {
  std::int64_t since_ns;
  Index serves;
};

// Whose id it is: chosen by `peer` for use in messages from `process` to it. Two peers of one
// process may choose the same (ids are often addresses).
struct IdScope {
  Index process;
  Index peer = kNone;
};

// Meanings of one kind of id, by scope and value.
class IdTable {
 public:
  void add(IdScope scope, std::uint64_t id, std::int64_t since_ns, Index serves) {
    table_[{scope.process, scope.peer, id}].push_back({since_ns, serves});
    if (scope.peer != kNone) {
      table_[{scope.process, kNone, id}].push_back({since_ns, serves});
    }
  }
  // Sorts; after it, find() may be used.
  void seal() {
    for (auto& [key, meanings] : table_) {
      std::stable_sort(meanings.begin(), meanings.end(),
                       [](const Meaning& a, const Meaning& b) { return a.since_ns < b.since_ns; });
    }
  }
  // A scope without a peer takes the newest of all peers.
  Index find(IdScope scope, std::uint64_t id, std::int64_t at_ns) const {
    const auto found = table_.find({scope.process, scope.peer, id});
    if (found == table_.end()) {
      return kNone;
    }
    const auto after =
        std::upper_bound(found->second.begin(), found->second.end(), at_ns,
                         [](std::int64_t t, const Meaning& m) { return t < m.since_ns; });
    return after == found->second.begin() ? kNone : (after - 1)->serves;
  }

 private:
  std::map<std::tuple<Index, Index, std::uint64_t>, std::vector<Meaning>> table_;
};

}  // namespace uctrace::merge

// The meanings of ids on the wire over time. Private to log-merger/attribute/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// The owner of an id: `peer` chose it for messages from `process`. Two peers of one process may
// choose the same id (ids are often addresses).
struct IdScope {
  ProcessIndex process;
  ProcessIndex peer = {};
};

// Meanings of one kind of id, by scope and value: a list that is sorted once.
class IdTable {
 public:
  // Valid from `since_ns` on, until a newer meaning.
  void add(IdScope scope, std::uint64_t id, std::int64_t since_ns, UcpIndex serves) {
    meanings_.push_back({scope.process, scope.peer, id, since_ns, serves});
    if (scope.peer != kNone) meanings_.push_back({scope.process, kNone, id, since_ns, serves});
  }
  // After it, find() may be used.
  void seal() { std::stable_sort(meanings_.begin(), meanings_.end(), comes_before); }
  // A scope without a peer takes the newest of all peers.
  UcpIndex find(IdScope scope, std::uint64_t id, std::int64_t at_ns) const {
    const Meaning wanted{scope.process, scope.peer, id, at_ns, kNone};
    const auto after = std::upper_bound(meanings_.begin(), meanings_.end(), wanted, comes_before);
    if (after == meanings_.begin()) return kNone;
    const Meaning& newest = *(after - 1);
    const bool same =
        newest.process == scope.process && newest.peer == scope.peer && newest.id == id;
    return same ? newest.serves : kNone;
  }

 private:
  struct Meaning {
    ProcessIndex process, peer;
    std::uint64_t id;
    std::int64_t since_ns;
    UcpIndex serves;
  };
  static bool comes_before(const Meaning& a, const Meaning& b) {
    return std::tie(a.process, a.peer, a.id, a.since_ns) <
           std::tie(b.process, b.peer, b.id, b.since_ns);
  }

  std::vector<Meaning> meanings_;
};

}  // namespace uctrace::merge

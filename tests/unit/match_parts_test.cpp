// Where receives that are known by their end alone belong among the others:
// log-merger/match/match_parts.hpp.
#include "log-merger/match/match_parts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace uctrace::merge {
namespace {

// As the header says it, one after the other.
Takers naive_takers(const Group& group) {
  Takers takers;
  for (const HalfMessage& receive : group.receives) takers.push_back(&receive);
  for (const OutsideReceive* outside : group.outside) {
    const auto later = std::find_if(takers.begin(), takers.end(), [&](const HalfMessage* taker) {
      return taker != nullptr && taker->id > outside->operation;
    });
    takers.insert(later, nullptr);
  }
  return takers;
}

}  // namespace

TEST_CASE("receives of which only the end is known lie where their ids say") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Group group;
    std::vector<OutsideReceive> outside(random() % 12);
    for (OutsideReceive& receive : outside) {
      receive.operation = random() % 40;
      group.outside.push_back(&receive);
    }
    for (std::size_t i = random() % 12; i > 0; --i) {
      HalfMessage receive;
      receive.id = random() % 40;  // of several lanes: in no order
      group.receives.push_back(receive);
    }
    CHECK(takers_of(group) == naive_takers(group));
  }
}

}  // namespace uctrace::merge

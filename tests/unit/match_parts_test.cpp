// Where receives that are known by their end alone belong among the others:
// log-merger/match/match_parts.hpp.
#include "log-merger/match/match_parts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace uctrace::merge {
namespace {

// As defined in the header, one after the other.
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

TEST_CASE("many of them take no more comparisons than a search each") {
  constexpr std::uint64_t kMany = 200'000, kMostOfOne = 19;  // 18 of a search, 1 of the greatest
  std::mt19937_64 random(8);
  Group group;
  std::vector<OutsideReceive> outside(kMany);
  for (OutsideReceive& receive : outside) {
    receive.operation = random() % (4 * kMany);
    group.outside.push_back(&receive);
  }
  for (std::uint64_t i = 0; i < kMany; ++i) {
    HalfMessage receive;
    receive.id = 4 * i;
    group.receives.push_back(receive);
  }
  std::uint64_t comparisons = 0;
  const Takers takers = takers_of(group, [&](log::Id a, log::Id b) {
    ++comparisons;
    return a < b;
  });
  CHECK(comparisons <= kMany * kMostOfOne);
  CHECK(takers.size() == 2 * kMany);
  CHECK(takers == takers_of(group));
  // Each other one lies behind exactly those that have smaller ids.
  std::vector<log::Id> ids;
  for (const OutsideReceive& receive : outside) ids.push_back(receive.operation);
  std::sort(ids.begin(), ids.end());
  std::uint64_t place = 0, misplaced = 0;
  for (const HalfMessage& receive : group.receives) {
    while (place < takers.size() && takers[place] != &receive) ++place;
    const auto before = std::lower_bound(ids.begin(), ids.end(), receive.id) - ids.begin();
    const auto others = static_cast<std::uint64_t>(&receive - group.receives.data());
    misplaced += place != static_cast<std::uint64_t>(before) + others;
  }
  CHECK(misplaced == 0);
}

}  // namespace uctrace::merge

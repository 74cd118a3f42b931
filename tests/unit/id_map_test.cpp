#include "log-merger/job/id_map.hpp"

#include <doctest/doctest.h>

#include <random>
#include <unordered_map>

namespace uctrace::merge {
namespace {

TEST_CASE("an empty map of ids knows none") {
  const IdMap map;
  CHECK(map.find(0) == map.end());
  CHECK(map.find(7) == map.end());
}

// Ids as lanes count them, at random, 0 and the largest ones, some of them twice.
TEST_CASE("a map of ids knows what a std::unordered_map does") {
  std::mt19937_64 random(3);
  for (const bool reserved : {false, true}) {
    IdMap map;
    std::unordered_map<log::Id, Index> expected;
    if (reserved) map.reserve(40000);
    const auto set = [&](log::Id id, Index row) {
      map.set(id, row);
      expected[id] = row;
    };
    for (Index i = 0; i < 10000; ++i) {
      set(std::uint64_t{3} << 48 | static_cast<log::Id>(i), i);
      set(std::uint64_t{5} << 48 | static_cast<log::Id>(i), i);
      set(random(), i);
      set(random() % 5000, i);
      set(UINT64_MAX - random() % 100, i);
    }
    set(0, 0);
    for (const auto& [id, row] : expected) {
      const IdMap::Entry* found = map.find(id);
      REQUIRE(found != map.end());
      CHECK(found->second == row);
    }
    for (int i = 0; i < 1000; ++i) {
      const log::Id id = random();
      CHECK((map.find(id) != map.end()) == expected.contains(id));
    }
  }
}

}  // namespace
}  // namespace uctrace::merge

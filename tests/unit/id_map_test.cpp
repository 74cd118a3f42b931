#include "log-merger/job/id_map.hpp"

#include <doctest/doctest.h>

#include <random>
#include <unordered_map>
#include <vector>

namespace uctrace::merge {
namespace {

TEST_CASE("an empty map of ids knows none") {
  const IdMap<UctIndex> map;
  CHECK(map.find(0) == map.end());
  CHECK(map.find(7) == map.end());
}

// Ids as lanes count them, at random, 0 and the largest ones, some of them twice.
TEST_CASE("a map of ids knows what a std::unordered_map does") {
  std::mt19937_64 random(3);
  for (const bool reserved : {false, true}) {
    IdMap<UctIndex> map;
    std::unordered_map<log::Id, UctIndex> expected;
    if (reserved) map.reserve(40000);
    const auto set = [&](log::Id id, UctIndex row) {
      map.set(id, row);
      expected[id] = row;
    };
    for (const UctIndex row : Indexes<UctOp>(0, 10000)) {
      set(std::uint64_t{3} << 48 | row.place(), row);
      set(std::uint64_t{5} << 48 | row.place(), row);
      set(random(), row);
      set(random() % 5000, row);
      set(UINT64_MAX - random() % 100, row);
    }
    set(0, UctIndex(0));
    for (const auto& [id, row] : expected) {
      const IdMap<UctIndex>::Entry* found = map.find(id);
      REQUIRE(found != map.end());
      CHECK(found->second == row);
    }
    for (int i = 0; i < 1000; ++i) {
      const log::Id id = random();
      CHECK((map.find(id) != map.end()) == expected.contains(id));
    }
  }
}

// A search takes as many probes as ids share a slot: a log can be constructed so that all of them
// do.
TEST_CASE("ids that all belong into one place take no longer than others") {
  constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15u;
  std::uint64_t inverse = kStep;  // modulo 2^64
  for (int i = 0; i < 6; ++i) inverse *= 2 - kStep * inverse;
  std::vector<log::Id> ids;
  for (std::uint64_t low = 1; ids.size() < 100'000; ++low) {
    const std::uint64_t group = low * inverse;  // times kStep it is below 2^32
    if (group < std::uint64_t{1} << 60) ids.push_back(group << 4);
  }
  IdMap<UctIndex> map;
  const auto looks_like = [&](std::size_t i, UctIndex row) {
    const IdMap<UctIndex>::Entry* found = map.find(ids[i]);
    return found != map.end() && found->first == ids[i] && found->second == row;
  };
  for (std::size_t i = 0; i < ids.size(); ++i) {
    CHECK(map.set(ids[i], UctIndex(i)));
  }
  for (std::size_t i = 0; i < ids.size(); ++i) REQUIRE(looks_like(i, UctIndex(i)));
  for (std::size_t i = 0; i < ids.size(); i += 3) {
    CHECK_FALSE(map.set(ids[i], UctIndex(i + 1)));
    REQUIRE(looks_like(i, UctIndex(i + 1)));
  }
  CHECK(map.find(ids[0] + 1) == map.end());
}

}  // namespace
}  // namespace uctrace::merge

#include "log-merger/summaries/numbers.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

namespace uctrace::summaries {

TEST_CASE("keys are numbered in the order in which they first come") {
  std::mt19937 random(3);
  for (const std::uint32_t different : {1u, 40u, 5'000u}) {
    Numbers<Key<2>> numbers;
    std::map<Key<2>, std::uint32_t> expected;
    CHECK_FALSE(numbers.find(key_of(0, 0)));
    for (int i = 0; i < 20'000; ++i) {
      const Key<2> key = key_of(random() % different, i % 2);
      const auto [at, is_new] =
          expected.try_emplace(key, static_cast<std::uint32_t>(expected.size()));
      REQUIRE(numbers.find(key) == (is_new ? std::nullopt : std::optional(at->second)));
      REQUIRE(numbers.of(key) == std::pair(at->second, is_new));
    }
  }
}

TEST_CASE("keys of any length are numbered, an empty one too") {
  Numbers<std::vector<std::uint32_t>> numbers;
  CHECK(numbers.of({}) == std::pair(0u, true));
  CHECK(numbers.of({1}) == std::pair(1u, true));
  CHECK(numbers.of({1, 0}) == std::pair(2u, true));
  CHECK(numbers.of({}) == std::pair(0u, false));
  CHECK(numbers.find({1, 0}) == 2u);
}

}  // namespace uctrace::summaries

// The pairing compared with its literal definition, on random lists.
#include "log-merger/match/pairing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

namespace uctrace::merge {
namespace {

using Random = std::mt19937_64;
using Halves = std::vector<HalfMessage>;

struct Case {
  Halves sends, receives;
  std::optional<std::int64_t> margin;  // between all processes

  ClockMargin clock() const {
    return [this](ProcessIndex, std::int64_t, ProcessIndex, std::int64_t) { return margin; };
  }
};

// The first k receives had all ended when the k-th send began.
bool is_quiescent_before(const Case& given, std::size_t k) {
  return k == 0 || std::all_of(given.receives.begin(),
                               given.receives.begin() + static_cast<std::ptrdiff_t>(k),
                               [&](const HalfMessage& receive) {
                                 return receive.end_ns >= 0 && given.margin &&
                                        receive.end_ns + *given.margin < given.sends[k].start_ns;
                               });
}

bool are_one_queue(const Halves& halves, std::size_t begin, std::size_t end) {
  for (std::size_t a = begin; a < end; ++a) {
    for (std::size_t b = begin; b < end; ++b) {
      const HalfMessage &one = halves[a], &other = halves[b];
      if (one.process != other.process || one.lane != other.lane || one.handle != other.handle) {
        return false;
      }
    }
  }
  return true;
}

bool is_only_possible(const Case& given, std::size_t k) {
  const std::size_t pairs = std::min(given.sends.size(), given.receives.size());
  if (given.sends.size() == 1 && given.receives.size() == 1) return true;
  std::size_t begin = k;
  while (!is_quiescent_before(given, begin)) --begin;
  std::size_t end = k + 1;
  while (end < pairs && !is_quiescent_before(given, end)) ++end;
  return are_one_queue(given.sends, begin, end < pairs ? end : given.sends.size()) &&
         are_one_queue(given.receives, begin, end < pairs ? end : given.receives.size());
}

// Few processes, threads and endpoints, so that several lists for one queue occur; short times, so
// that instants collide.
Case random_case(Random& random) {
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  const std::uint64_t sources = 1 + below(2), lanes = 1 + below(2), handles = 1 + below(2);
  Case made;
  if (below(8) != 0) made.margin = static_cast<std::int64_t>(below(3));
  std::int64_t now = 0;
  for (std::uint64_t left = below(9); left > 0; --left) {
    now += static_cast<std::int64_t>(below(6));
    made.sends.push_back({ProcessIndex(below(sources)), static_cast<std::uint16_t>(below(lanes)),
                          below(handles), now, -1});
  }
  now = 0;
  for (std::uint64_t left = below(9); left > 0; --left) {
    now += static_cast<std::int64_t>(below(6));
    const bool ended = below(12) != 0;
    made.receives.push_back({ProcessIndex(7), static_cast<std::uint16_t>(below(lanes)), 1, now,
                             ended ? now + static_cast<std::int64_t>(below(4)) : -1});
  }
  return made;
}

TEST_CASE("pairing: the same as by its definition, on random lists") {
  std::size_t sure_pairs = 0, unsure_pairs = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Case given = random_case(random);
    const std::vector<bool> sure = only_possible_pairs(given.sends, given.receives, given.clock());
    REQUIRE(sure.size() == std::min(given.sends.size(), given.receives.size()));
    for (std::size_t k = 0; k < sure.size(); ++k) {
      CAPTURE(k);
      REQUIRE(sure[k] == is_only_possible(given, k));
      ++(sure[k] ? sure_pairs : unsure_pairs);
    }
  }
  CHECK(sure_pairs > 5'000);
  CHECK(unsure_pairs > 5'000);
}

TEST_CASE("pairing: of two sources a quiescent point tells which was first") {
  const ProcessIndex one(0), other(1), to(7);
  Case given{
      {{one, 0, 1, 10, -1}, {other, 0, 1, 30, -1}}, {{to, 0, 1, 5, 20}, {to, 0, 1, 6, 40}}, 0};
  CHECK(only_possible_pairs(given.sends, given.receives, given.clock()) ==
        std::vector<bool>{true, true});
  given.margin = 10;  // the clocks leave open whether the first had been received
  CHECK(only_possible_pairs(given.sends, given.receives, given.clock()) ==
        std::vector<bool>{false, false});
}

}  // namespace
}  // namespace uctrace::merge

// Which leaders measure together: all compute the same plan, and it reaches every clock.
#include "mpi-attribution/clock_leaders.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace uctrace::mpi {
namespace {

using Role = ClockPartner::Role;

// Every leader goes through its steps; a step with a partner is done when both are in it.
// Returns the depth at which each leader's clock is known, -1 where that never happens.
std::vector<int> depths_after(std::size_t leaders) {
  std::vector<std::size_t> at(leaders, 0);
  std::vector<std::size_t> asker(leaders, leaders);
  const std::size_t steps = measuring_steps(leaders);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < leaders; ++i) {
      while (at[i] < steps && partner_in(at[i], i, leaders).role == Role::none) {
        ++at[i];
        moved = true;
      }
      if (at[i] == steps || partner_in(at[i], i, leaders).role != Role::asks) continue;
      const std::size_t other = partner_in(at[i], i, leaders).index;
      REQUIRE(other < leaders);
      if (at[other] != at[i]) continue;
      const ClockPartner back = partner_in(at[other], other, leaders);
      REQUIRE(back.role == Role::answers);
      REQUIRE(back.index == i);
      CHECK(asker[other] == leaders);  // each is asked once
      asker[other] = i;
      ++at[i], ++at[other];
      moved = true;
    }
  }
  std::vector<int> depths(leaders, -1);
  for (std::size_t i = 0; i < leaders; ++i) {
    CHECK(at[i] == steps);  // nobody waits for ever
    int depth = 0;
    std::size_t up = i;
    while (up != 0 && up < leaders) up = asker[up], ++depth;
    depths[i] = up == 0 ? depth : -1;
  }
  return depths;
}

}  // namespace

TEST_CASE("each clock is measured once, over few others") {
  for (std::size_t leaders = 1; leaders <= 300; ++leaders) {
    const std::vector<int> depths = depths_after(leaders);
    for (std::size_t i = 1; i < leaders; ++i) {
      CHECK(depths[i] >= 1);
      CHECK(depths[i] <= (leaders <= kMostInARow ? 1 : 9));
    }
  }
}

TEST_CASE("leaders: the first process on each clock, in the order of ranks") {
  std::vector<ClockLeader> all{{7, 0}, {3, 1}, {7, 2}, {9, 3}, {3, 4}, {1, 5}};
  const std::size_t count = choose_leaders(all.data(), all.size());
  REQUIRE(count == 4);
  CHECK(all[0].rank == 0);
  CHECK(all[1].rank == 1);
  CHECK(all[1].clock == 3);
  CHECK(all[2].rank == 3);
  CHECK(all[3].rank == 5);
}

}  // namespace uctrace::mpi

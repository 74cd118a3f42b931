// Which processes measure their clocks against each other: pure computation, for clock_sync.cpp and
// its test.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace uctrace::mpi {

struct ClockLeader {
  std::uint64_t clock;  // its name
  std::int32_t rank;
};

// Keeps the first process of each clock, in the order of ranks. Returns how many.
inline std::size_t choose_leaders(ClockLeader* processes, std::size_t count) {
  std::sort(processes, processes + count, [](const ClockLeader& a, const ClockLeader& b) {
    return a.clock != b.clock ? a.clock < b.clock : a.rank < b.rank;
  });
  const auto same_clock = [](const ClockLeader& a, const ClockLeader& b) {
    return a.clock == b.clock;
  };
  ClockLeader* end = std::unique(processes, processes + count, same_clock);
  std::sort(processes, end,
            [](const ClockLeader& a, const ClockLeader& b) { return a.rank < b.rank; });
  return static_cast<std::size_t>(end - processes);
}

// Up to this many leaders, the first one asks the others one by one. More leaders ask each other in
// pairs that form a binomial tree: that takes as many steps as the tree's depth, and errors add up.
inline constexpr std::size_t kMostInARow = 17;

inline std::size_t measuring_steps(std::size_t leaders) {
  if (leaders <= kMostInARow) return leaders < 2 ? 0 : leaders - 1;
  std::size_t steps = 0;
  while (std::size_t{1} << steps < leaders) ++steps;
  return steps;
}

// The partner of the leader with that index in a step.
struct ClockPartner {
  enum class Role : std::uint8_t { none, asks, answers };  // what the leader itself does
  Role role = Role::none;
  std::size_t index = 0;
};

inline ClockPartner partner_in(std::size_t step, std::size_t index, std::size_t leaders) {
  using Role = ClockPartner::Role;
  if (leaders <= kMostInARow) {
    if (index == 0) return {Role::asks, step + 1};
    return index == step + 1 ? ClockPartner{Role::answers, 0} : ClockPartner{};
  }
  const std::size_t bit = std::size_t{1} << step;
  if ((index & (bit - 1)) != 0) return {};
  if ((index & bit) != 0) return {Role::answers, index - bit};
  return index + bit < leaders ? ClockPartner{Role::asks, index + bit} : ClockPartner{};
}

}  // namespace uctrace::mpi

// When several threads pack: the amount of work, and which cores are free.
#include "event-log/recorder/work_share.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include "event-log/format/helpers.hpp"

namespace uctrace::log::test {
namespace {

constexpr std::uint64_t kLook = 10'000'000;

// Two threads of the program and who packs, which has its core for itself.
constexpr CoreUse three_busy(std::uint64_t cores) {
  return {.cores = cores,
          .wall = kLook,
          .cpu = 3 * kLook,
          .turns = kLook,
          .turns_cpu = kLook,
          .waited = 0};
}

}  // namespace

TEST_CASE("another thread packs where the ring stays full and a core is free, and no other") {
  CHECK(next_assistants(0, 7, Demand::full, three_busy(4)) == 1);
  CHECK(next_assistants(0, 7, Demand::full, three_busy(3)) == 0);  // none is free
  CHECK(next_assistants(0, 7, Demand::full, three_busy(0)) == 0);  // nor where that is not known
  CHECK(next_assistants(1, 7, Demand::full, three_busy(3)) == 1);
  CHECK(next_assistants(1, 1, Demand::full, three_busy(64)) == 1);  // as many as the user allows
  CHECK(next_assistants(0, 7, Demand::middling, three_busy(64)) == 0);
  CHECK(next_assistants(2, 7, Demand::middling, three_busy(64)) == 2);
  CHECK(next_assistants(2, 7, Demand::small, three_busy(64)) == 0);
  CoreUse shared = three_busy(64);
  shared.turns_cpu = kLook * 8 / 10;  // others use the cores, too
  CHECK(next_assistants(0, 7, Demand::full, shared) == 0);
  CHECK(next_assistants(2, 7, Demand::full, shared) == 1);
  CoreUse late = three_busy(64);
  late.waited = kLook * 2 / 10;  // it has all of a core in its turns, and they begin late
  CHECK(next_assistants(0, 7, Demand::full, late) == 0);
  CHECK(next_assistants(2, 7, Demand::full, late) == 1);
}

TEST_CASE("the time since the last look decides, and a ring that was full at both") {
  WorkShare share{};
  share.allow(7);
  std::uint64_t looks = 1000;  // the clocks began long before
  const auto look = [&](std::uint64_t waiting) {
    share.add_turn(kLook / 2, kLook / 2);
    share.add_turn(kLook / 4, kLook / 4);
    ++looks;
    // Before the first look the process used eight cores, and since then three.
    return share.look({.cores = 4,
                       .wall = looks * kLook,
                       .cpu = 8 * 1000 * kLook + (looks - 1000) * 3 * kLook,
                       .waited = 0},
                      waiting, 100);
  };
  look(0);  // since whenever
  CHECK(look(100) == 0);
  CHECK(look(51) == 1);
  CHECK(look(50) == 1);  // it is not full
  CHECK(look(51) == 1);  // a burst
  CHECK(look(51) == 2);
  CHECK(look(25) == 0);
  CHECK(look(51) == 0);
  CHECK(look(51) == 1);
  share.add_turn(kLook, 0);  // the packer had no core during it
  CHECK(look(51) == 0);
  CHECK(look(51) == 1);
}

TEST_CASE("UCTRACE_HELPERS counts who packs") {
  const auto of = [](const char* value) {
    setenv("UCTRACE_HELPERS", value, 1);
    const std::uint32_t assistants = most_assistants();
    unsetenv("UCTRACE_HELPERS");
    return assistants;
  };
  CHECK(most_assistants() == 0);
  CHECK(of("") == 0);
  CHECK(of("0") == 0);
  CHECK(of("-1") == 0);
  CHECK(of("1") == 0);
  CHECK(of("3") == 2);
  CHECK(of("1000000") == kMostHelpers - 1);
}

}  // namespace uctrace::log::test

// The end of a process waits for its log, but not for ever.
#include "event-log/recorder/end_wait.hpp"

#include <doctest/doctest.h>

namespace uctrace::log {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000, kStart = 77 * kSecond;

// After how many seconds the wait is given up if a write succeeds every `seconds`; 0 = none does.
std::uint64_t seconds_waited(std::uint64_t seconds) {
  EndWait wait(kStart, kStart, 5);
  std::uint64_t now = kStart, progress = 5;
  for (int turns = 0; turns < 1000; ++turns) {
    const std::uint64_t left = wait.left_ns(now, progress);
    if (left == 0) return (now - kStart) / kSecond;
    // Woken by the timeout or by the write: whichever comes first.
    const std::uint64_t next = seconds == 0 ? left : seconds * kSecond;
    now += left < next ? left : next;
    if (seconds != 0 && next <= left) ++progress;
  }
  return UINT64_MAX;
}

}  // namespace

TEST_CASE("a file system that takes nothing is given up after 5 s") {
  CHECK(seconds_waited(0) == 5);
}

TEST_CASE("one that takes a block every few seconds is given up after 30 s in all") {
  CHECK(seconds_waited(1) == 30);
  CHECK(seconds_waited(4) == 30);
}

TEST_CASE("waiting goes on from the last progress") {
  EndWait wait(0, 0, 0);
  CHECK(wait.left_ns(3 * kSecond, 0) == 2 * kSecond);
  CHECK(wait.left_ns(4 * kSecond, 1) == 5 * kSecond);
  CHECK(wait.left_ns(8 * kSecond, 1) == 1 * kSecond);
  CHECK(wait.left_ns(9 * kSecond, 1) == 0);
}

TEST_CASE("what the end waited for before is part of its bound, and no standstill") {
  EndWait wait(0, 4 * kSecond, 0);
  CHECK(wait.left_ns(4 * kSecond, 0) == 5 * kSecond);
  CHECK(wait.left_ns(28 * kSecond, 1) == 2 * kSecond);
  CHECK(wait.left_ns(30 * kSecond, 2) == 0);
}

}  // namespace uctrace::log

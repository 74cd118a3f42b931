// Small random programs, the reported waits, and those that a naive reader expects. Times are ticks
// and nanoseconds at once.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "log-merger/waits/waits.hpp"
#include "tests/unit/called_job.hpp"

namespace uctrace::merge::test {

using Times = std::map<std::tuple<WaitKind, int, int>, std::int64_t>;  // who waited for whom
using Unknown = std::map<std::tuple<WaitKind, WaitUnknown, int>, std::int64_t>;

struct Program : CalledJob {
  explicit Program(int ranks, unsigned seed) : CalledJob(ranks), now(places(ranks)), random(seed) {
    for (int rank = 0; rank < ranks; ++rank) {
      CommObject window;
      window.comm = kWorld;
      builder.log(rank).windows.push_back(window);
    }
  }

  static std::vector<std::int64_t> places(int ranks) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 0);
  }

  int below(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
  std::int64_t& now_of(int rank) { return now[static_cast<std::size_t>(rank)]; }

  struct Entered {
    CallIndex call;
    std::int64_t start_ns, end_ns;
  };

  // The next call of a rank: after some work, until `end_ns` or a little later than it began.
  Entered enter(int rank, const char* function, std::int64_t end_ns = 0) {
    const std::int64_t start_ns = now_of(rank) + 1 + below(40);
    const std::int64_t left_ns = std::max(end_ns, start_ns + 1 + below(10));
    now_of(rank) = left_ns;
    return {call(rank, function, start_ns, left_ns), start_ns, left_ns};
  }

  // The same on the window.
  Entered on_window(int rank, const char* function, int target = INT32_MIN,
                    std::int64_t end_ns = 0) {
    const Entered entered = enter(rank, function, end_ns);
    MpiCall& own = job().calls[entered.call];
    own.on_window = true;
    own.window = IndexOf<CommObject>(0);
    own.peer = target;
    return entered;
  }

  void find() {
    lay_out_messages();
    find_waits(job());
    for (const Wait& wait : job().run.waits) {
      const auto own = static_cast<int>(wait.process);
      if (wait.ns != 0) waits[{wait.kind, own, wait.cause_process}] += wait.ns;
      if (wait.unknown_ns != 0) unknown[{wait.kind, wait.unknown, own}] += wait.unknown_ns;
    }
    for (const Identity& identity : job().run.identities) {
      CHECK(identity.result == Verdict::holds);
    }
  }

  // A naive reader's sum: each nanosecond of the call before `until_ns`.
  void expect(WaitKind kind, int rank, int cause, const Entered& own, std::int64_t until_ns) {
    for (std::int64_t ns = own.start_ns; ns < own.end_ns && ns < until_ns; ++ns) {
      ++expected[{kind, rank, cause}];
    }
  }
  void expect_unknown(WaitKind kind, WaitUnknown why, int rank, const Entered& own) {
    expected_unknown[{kind, why, rank}] += own.end_ns - own.start_ns;
  }

  Times waits, expected;
  Unknown unknown, expected_unknown;
  std::vector<std::int64_t> now;
  std::mt19937 random;
};

}  // namespace uctrace::merge::test

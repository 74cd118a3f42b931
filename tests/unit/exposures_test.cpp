// Which exposure epoch of a window an access belongs to, and for whom MPI_Win_wait waits.
#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "tests/unit/waiting_program.hpp"

namespace uctrace::merge {

using test::Program;

// Half of the ranks expose windows to one of the others each; or each rank to any others, one after
// the other.
TEST_CASE("waits in access and exposure epochs of random programs are the naive ones") {
  std::map<WaitKind, std::int64_t> waited;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const bool in_pairs = seed % 2 == 0;
    const int pairs = 1 + static_cast<int>(seed / 2 % 3);
    const int ranks = in_pairs ? 2 * pairs : 2 + pairs;
    Program program(ranks, seed);
    for (int epoch = 0; epoch < 20; ++epoch) {
      const int target = program.below(in_pairs ? pairs : ranks);
      const int origin =
          in_pairs ? pairs + target : (target + 1 + program.below(ranks - 1)) % ranks;
      const auto post = program.on_window(target, "MPI_Win_post");
      program.told.push_back({post.call, origin});
      std::vector<Program::Entered> access = {
          program.on_window(origin, "MPI_Win_start", INT32_MIN,
                            program.below(2) * (post.start_ns + program.below(20)))};
      for (int put = program.below(3); put >= 0; --put) {
        access.push_back(program.on_window(origin, "MPI_Put", target));
      }
      access.push_back(program.on_window(origin, "MPI_Win_complete", INT32_MIN,
                                         program.below(2) * (post.start_ns + program.below(20))));
      const auto wait = program.on_window(target, "MPI_Win_wait", INT32_MIN,
                                          program.below(2) * (access.back().end_ns + 1));
      for (const auto& own : access) {
        program.expect(WaitKind::rma_late_post, origin, target, own,
                       own.end_ns > post.start_ns ? post.start_ns : 0);
      }
      program.expect(WaitKind::rma_early_wait, target, origin, wait, access.back().start_ns);
    }
    program.find();
    CAPTURE(seed);
    CHECK(program.waits == program.expected);
    CHECK(program.unknown.empty());
    for (const auto& [who, ns] : program.waits) waited[std::get<WaitKind>(who)] += ns;
  }
  CHECK(waited[WaitKind::rma_late_post] > 1000);
  CHECK(waited[WaitKind::rma_early_wait] > 1000);
}

namespace {

// Rank 0 exposes its window, rank 1 accesses it and rank 2 may.
struct ExposedToTwo {
  explicit ExposedToTwo(bool third_moves) {
    const auto post = program.on_window(0, "MPI_Win_post");
    posted = post.call;
    for (const int origin : {1, 2}) {
      program.on_window(origin, "MPI_Win_start");
      if (origin == 1 || third_moves) program.on_window(origin, "MPI_Put", 0);
      last = program.on_window(origin, "MPI_Win_complete", INT32_MIN, 500 * origin);
      if (origin == 1) first = last;
    }
    wait = program.on_window(0, "MPI_Win_wait", INT32_MIN, 2000);
  }

  // How long it is unknown what rank 0 waited for.
  std::int64_t unknown_ns() {
    program.find();
    return program.unknown[{WaitKind::rma_early_wait, WaitUnknown::partner, 0}];
  }

  Program program{3, 1};
  CallIndex posted;
  Program::Entered first, last, wait;
};

}  // namespace

TEST_CASE("an exposure that tells an origin of which no access is known may wait for it") {
  for (const bool third_moves : {true, false}) {
    ExposedToTwo exposure(third_moves);
    exposure.program.told = {{exposure.posted, 1}, {exposure.posted, 2}};
    CAPTURE(third_moves);
    const std::int64_t until = exposure.wait.end_ns;
    CHECK(exposure.unknown_ns() == (third_moves ? 0 : until - exposure.first.start_ns));
  }
}

TEST_CASE("an exposure that tells a process without a log may wait for it") {
  ExposedToTwo exposure(true);
  exposure.program.told = {
      {exposure.posted, 1}, {exposure.posted, 2}, {exposure.posted, ProcessIndex()}};
  CHECK(exposure.unknown_ns() == exposure.wait.end_ns - exposure.last.start_ns);
}

TEST_CASE("an exposure that tells nobody may wait for each process of the window") {
  for (const bool third_moves : {true, false}) {
    ExposedToTwo exposure(third_moves);
    CAPTURE(third_moves);
    const std::int64_t until = exposure.wait.end_ns;
    CHECK(exposure.unknown_ns() == (third_moves ? 0 : until - exposure.first.start_ns));
  }
}

TEST_CASE("where some exposures tell nobody, those that tell an origin are not all for it") {
  Program program(2, 1);
  const auto access = [&](bool moves) {
    program.on_window(1, "MPI_Win_start");
    if (moves) program.on_window(1, "MPI_Put", 0);
    program.on_window(1, "MPI_Win_complete");
  };
  // The first access moves no data; the second exposure notifies no rank.
  for (const bool tells : {true, false}) {
    const auto post = program.on_window(0, "MPI_Win_post");
    if (tells) program.told.push_back({post.call, 1});
    access(!tells);
    program.on_window(0, "MPI_Win_wait", INT32_MIN, program.now_of(1) + 100);
  }
  program.find();
  CHECK(program.waits.empty());
  CHECK(program.unknown[{WaitKind::rma_early_wait, WaitUnknown::partner, 0}] > 0);
}

}  // namespace uctrace::merge

// The parts of the communicator bookkeeping that need no MPI library.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "mpi-attribution/children.hpp"
#include "mpi-attribution/rank_runs.hpp"

namespace uctrace::mpi {
namespace {

std::vector<std::int32_t> expand(const RankRuns& runs) {
  std::vector<std::int32_t> ranks;
  for (std::size_t i = 0; i < runs.count(); ++i) {
    const log::RankRun& run = runs.data()[i];
    for (std::uint32_t k = 0; k < run.count; ++k) {
      ranks.push_back(run.first + static_cast<std::int32_t>(k) * run.stride);
    }
  }
  return ranks;
}

RankRuns compress(const std::vector<std::int32_t>& ranks) {
  RankRuns runs;
  for (const std::int32_t rank : ranks) REQUIRE(runs.append(rank));
  return runs;
}

TEST_CASE("regular lists of ranks are one run") {
  std::vector<std::int32_t> up, down, every_third, same;
  for (int i = 0; i < 1000; ++i) {
    up.push_back(i);
    down.push_back(999 - i);
    every_third.push_back(3 * i);
    same.push_back(7);
  }
  for (const auto& ranks : {up, down, every_third, same}) {
    const RankRuns runs = compress(ranks);
    CHECK(runs.count() == 1);
    CHECK(expand(runs) == ranks);
  }
  CHECK(compress({}).count() == 0);
}

TEST_CASE("any list of ranks survives compression") {
  std::mt19937 random(20240607);
  for (int round = 0; round < 1000; ++round) {
    std::vector<std::int32_t> ranks(random() % RankRuns::kMaxRuns);
    for (auto& rank : ranks) rank = static_cast<std::int32_t>(random() % 64);
    CHECK(expand(compress(ranks)) == ranks);
  }
}

TEST_CASE("a record that is full keeps what it has and refuses more") {
  RankRuns runs;
  std::vector<std::int32_t> kept;
  for (std::int32_t i = 0; runs.append(i * i); ++i) kept.push_back(i * i);
  CHECK(runs.count() == RankRuns::kMaxRuns);
  CHECK(runs.bytes() + sizeof(log::Communicator) <= log::kMaxRecordBytes);
  CHECK(expand(runs) == kept);
}

TEST_CASE("ordinals count by parent and by who calls, and start anew with a handle") {
  const Handle a = 0x84000001, b = 0x84000002;
  CHECK(next_ordinal(a, CalledBy::parent) == 1);
  CHECK(next_ordinal(b, CalledBy::parent) == 1);
  CHECK(next_ordinal(a, CalledBy::parent) == 2);
  CHECK(next_ordinal(a, CalledBy::members) == 1);
  CHECK(next_ordinal(a, CalledBy::parent) == 3);
  forget_children(a);
  CHECK(next_ordinal(a, CalledBy::parent) == 1);
  CHECK(next_ordinal(b, CalledBy::parent) == 2);
}

TEST_CASE("ordinals of many parents do not mix") {
  constexpr Handle kParents = 5000;
  for (int round = 1; round <= 2; ++round) {
    for (Handle i = 1; i <= kParents; ++i) {
      REQUIRE(next_ordinal(0x7f0000000000 + 64 * i, CalledBy::parent) ==
              static_cast<std::uint32_t>(round));
    }
  }
  for (Handle i = 1; i <= kParents; ++i) forget_children(0x7f0000000000 + 64 * i);
}

}  // namespace
}  // namespace uctrace::mpi

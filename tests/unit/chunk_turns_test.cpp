#include "event-log/recorder/chunk_turns.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace uctrace::log {
namespace {

// All zero, as the memory that the packer is given.
std::unique_ptr<ChunkTurns> no_turns() { return std::make_unique<ChunkTurns>(); }

TEST_CASE("a chunk whose predecessor was missed waits for it") {
  const auto turns = no_turns();
  CHECK(turns->begin(0, Stream::events, 1));
  CHECK_FALSE(turns->begin(0, Stream::events, 3));
  CHECK(turns->begin(0, Stream::events, 2));
  CHECK(turns->begin(0, Stream::events, 3));
}

TEST_CASE("a chunk that is still being filled has its turn again and again") {
  const auto turns = no_turns();
  for (int look = 0; look < 3; ++look) CHECK(turns->begin(0, Stream::events, 1));
  CHECK(turns->begin(0, Stream::events, 2));
  CHECK(turns->begin(0, Stream::events, 1));  // what came into it late
  CHECK(turns->begin(0, Stream::events, 2));
  CHECK_FALSE(turns->begin(0, Stream::events, 4));
}

TEST_CASE("lanes and streams take their turns by themselves") {
  const auto turns = no_turns();
  CHECK(turns->begin(kMaxLanes - 1, Stream::events, 1));
  CHECK(turns->begin(kMaxLanes - 1, Stream::events, 2));
  CHECK_FALSE(turns->begin(kMaxLanes - 1, Stream::definitions, 2));
  CHECK_FALSE(turns->begin(0, Stream::events, 2));
}

TEST_CASE("in whatever order the places are found, chunks go out as they were filled") {
  std::vector<std::uint32_t> places = {1, 2, 3, 4, 5};
  do {
    const auto turns = no_turns();
    std::vector<std::uint32_t> packed, left = places;
    for (int look = 0; look < 5 && !left.empty(); ++look) {
      std::vector<std::uint32_t> later;
      for (const std::uint32_t chunk : left) {
        (turns->begin(7, Stream::events, chunk) ? packed : later).push_back(chunk);
      }
      left = later;
    }
    CHECK(packed == std::vector<std::uint32_t>{1, 2, 3, 4, 5});
  } while (std::next_permutation(places.begin(), places.end()));
}

}  // namespace
}  // namespace uctrace::log

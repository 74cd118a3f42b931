// Blocks in memory: they never overlap, and released ones are reused.
#include "log-merger/spill/block_heap.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace uctrace::spill {
namespace {

struct Block {
  unsigned char* at;
  std::size_t bytes;
  unsigned char filled_with;
};

bool is_whole(const Block& block) {
  return std::all_of(block.at, block.at + block.bytes,
                     [&](unsigned char byte) { return byte == block.filled_with; });
}

TEST_CASE("blocks keep what is written into them, whatever else is taken and released") {
  BlockHeap heap;
  std::mt19937 random(1);
  std::vector<Block> blocks;
  for (int step = 0; step < 3000; ++step) {
    if (blocks.size() < 20 || random() % 2 == 0) {
      const std::size_t bytes = 1 + random() % (random() % 50 == 0 ? 3'000'000 : 200'000);
      auto* const at = static_cast<unsigned char*>(heap.take(bytes));
      REQUIRE(at != nullptr);
      CHECK(heap.holds(at));
      CHECK(reinterpret_cast<std::uintptr_t>(at) % 64 == 0);
      blocks.push_back({at, bytes, static_cast<unsigned char>(step)});
      std::memset(at, blocks.back().filled_with, bytes);
    } else {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      CHECK(is_whole(blocks.back()));
      heap.release(blocks.back().at);
      blocks.pop_back();
    }
    CHECK(heap.kept_bytes() <= BlockHeap::kMostKept);
  }
  CHECK(std::all_of(blocks.begin(), blocks.end(), is_whole));
  for (const Block& block : blocks) heap.release(block.at);

  // All parts have joined: one block as large as all of them needs no more addresses.
  const std::size_t kept = heap.kept_bytes();
  CHECK(kept > 0);
  void* const all = heap.take(kept / 2);
  CHECK(heap.kept_bytes() < kept);
  CHECK(heap.kept_bytes() >= kept - kept / 2 - 128);
  heap.release(all);
  CHECK(heap.kept_bytes() == kept);
  heap.keep_nothing();
  CHECK(heap.kept_bytes() == 0);
}

TEST_CASE("what is released is the next block of its size, and neighbours are one") {
  BlockHeap heap;
  CHECK_FALSE(heap.holds(&heap));
  constexpr std::size_t kBytes = 1 << 20;
  void* const first = heap.take(kBytes);
  void* const second = heap.take(kBytes);
  void* const third = heap.take(kBytes);
  CHECK_FALSE(heap.holds(&heap));
  heap.release(second);
  CHECK(heap.take(kBytes) == second);
  heap.release(first);
  heap.release(second);
  CHECK(heap.take(2 * kBytes) == first);
  heap.release(first);
  heap.release(third);
}

TEST_CASE("a very large block goes back to the system, and so does what would be too much") {
  BlockHeap heap;
  auto* const large = static_cast<unsigned char*>(heap.take(BlockHeap::kLargestKept));
  REQUIRE(large != nullptr);
  std::memset(large, 1, BlockHeap::kLargestKept);
  heap.release(large);
  CHECK(heap.kept_bytes() == 0);

  constexpr std::size_t kBytes = 8 << 20;
  std::vector<void*> blocks;
  for (std::size_t bytes = 0; bytes < 2 * BlockHeap::kMostKept; bytes += kBytes) {
    blocks.push_back(heap.take(kBytes));
  }
  for (void* const block : blocks) {
    heap.release(block);
    CHECK(heap.kept_bytes() <= BlockHeap::kMostKept);
  }
  CHECK(heap.take(SIZE_MAX / 4) == nullptr);
}

}  // namespace
}  // namespace uctrace::spill

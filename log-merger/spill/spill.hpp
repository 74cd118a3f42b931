// The memory of a merge beyond a bound. Everything that grows with the events of a run is in large
// blocks. From begin() on these are mapped parts of an unnamed file beside the store. The system
// writes them to the disk and reads them again; whenever the process exceeds the bound, their pages
// are evicted from memory. The stages of the merge do not notice: a block is memory like any other.
//
// Cost: touching a page for the first time, or again after eviction, takes about 1 us instead of
// 0.25 us. A run that fits is never spilled.
#pragma once

#include <cstdint>
#include <filesystem>
#include <new>

namespace uctrace::spill {

// For a program's operators new and delete (cli/large_blocks.cpp): memory from the heap; from
// begin() on, large blocks from the file. Throws std::bad_alloc.
void* allocate(std::size_t bytes);
void release(void* block) noexcept;

// The disk, rather than memory, had no room for a block.
class NoRoom : public std::bad_alloc {
 public:
  const char* what() const noexcept override { return "no room for what does not fit into memory"; }
};

// Blocks from this size on are large.
inline constexpr std::size_t kLargeBlock = 64 * 1024;

// From now on large blocks in memory use huge pages, and are reused after release (block_heap.hpp).
// Not for a process with threads that forks and goes on in the child.
void use_huge_pages();

// From now on large blocks are parts of a file in `folder`, and the process holds at most
// `most_bytes` in memory, as far as evicting blocks can achieve that. `needed_bytes` is the
// expected memory of the merge, for a message. Only the first call makes a file; later ones change
// the bound. False: such a file cannot be made or mapped, for example under a limit on address
// space; nothing has changed. Throws std::system_error if the folder takes no file.
bool begin(const std::filesystem::path& folder, std::uint64_t most_bytes,
           std::uint64_t needed_bytes);

// The bound; 0: nothing is spilled.
struct Bound {
  std::filesystem::path folder;
  std::uint64_t most_bytes = 0, needed_bytes = 0;
};
Bound bound();

}  // namespace uctrace::spill

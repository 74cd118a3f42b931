// The memory of a merge beyond a bound. All that grows with the events of a run lies in large
// blocks; from begin() on these are parts of a nameless file beside the store, mapped. The system
// writes them to the disk and reads them again; what of them lies in memory is given back to it
// whenever the process holds more than the bound. No stage of the merge knows: a block is memory
// like any other.
//
// Cost: a page that is met for the first time, or again, takes about 1 us instead of 0.25 us. A run
// that fits is never spilled.
#pragma once

#include <cstdint>
#include <filesystem>
#include <new>

namespace uctrace::spill {

// The memory of a program whose operators new and delete are these (cli/large_blocks.cpp): from the
// heap, and from begin() on large blocks from the file. Throws std::bad_alloc.
void* allocate(std::size_t bytes);
void release(void* block) noexcept;

// A block that no room was left for on the disk, instead of in memory.
class NoRoom : public std::bad_alloc {
 public:
  const char* what() const noexcept override { return "no room for what does not fit into memory"; }
};

// Blocks of at least as many bytes are large.
inline constexpr std::size_t kLargeBlock = 64 * 1024;

// From now on large blocks in memory lie on huge pages, and what is released of them is used again
// (block_heap.hpp). Not for a process that forks and goes on in the child while it has threads.
void use_huge_pages();

// From now on, and as long as the process lives, large blocks of memory are parts of a file in
// `folder`, and the process holds at most `most_bytes` in memory, as far as these make up for it.
// `needed_bytes` is how much the merge is expected to take, for a message. Only the first call
// makes a file; a later one changes the bound. False: the system lets no such file be made or
// mapped, as under a limit on address space, and nothing has changed. Throws std::system_error
// where the folder takes no file.
bool begin(const std::filesystem::path& folder, std::uint64_t most_bytes,
           std::uint64_t needed_bytes);

// As it was given; 0: nothing is spilled.
struct Bound {
  std::filesystem::path folder;
  std::uint64_t most_bytes = 0, needed_bytes = 0;
};
Bound bound();

}  // namespace uctrace::spill

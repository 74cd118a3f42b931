#include "log-merger/spill/spill.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "log-merger/spill/block_heap.hpp"
#include "log-merger/spill/mapped_file.hpp"
#include "log-merger/spill/resident.hpp"

namespace uctrace::spill {
namespace {

// In front of each block: what its release needs to know. A page of its own, so that the block
// begins with a page.
struct BlockHead {
  std::uint64_t bytes;  // with the head
  BlockHead* next;      // of those that are kept
};

// Blocks that were released and are used again soon, as buffers of a chunk are: the file need not
// give up their room and make it again. Sizes are rounded up, so that few kinds of blocks are kept.
class KeptBlocks {
 public:
  static std::uint64_t rounded(std::uint64_t bytes) {
    const std::uint64_t step = std::max(std::bit_floor(bytes) / 8, kPageBytes);
    return (bytes + step - 1) / step * step;
  }

  BlockHead* take(std::uint64_t bytes) {
    BlockHead*& first = first_of(bytes);
    BlockHead* const found = first;
    if (found != nullptr) {
      first = found->next;
      kept_ -= bytes;
    }
    return found;
  }
  // Whether it is not too large, and there are not enough.
  bool is_worth_keeping(const BlockHead* block) const {
    return block->bytes <= kLargest && kept_ + block->bytes <= kMost;
  }
  void keep(BlockHead* block) {
    BlockHead*& first = first_of(block->bytes);
    block->next = first;
    first = block;
    kept_ += block->bytes;
  }

 private:
  static constexpr std::uint64_t kLargest = 4 << 20, kMost = 32 << 20;

  // Eight sizes from one power of two to the next, none below a page.
  BlockHead*& first_of(std::uint64_t bytes) {
    const auto octave = static_cast<std::size_t>(std::bit_width(bytes));
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a block has bytes
    return first_[octave][bytes * 8 / std::bit_floor(bytes) - 8];
  }

  std::array<std::array<BlockHead*, 8>, 64> first_{};
  std::uint64_t kept_ = 0;
};

// The large blocks of the process. Lives until it ends: blocks may outlive all else.
struct Blocks {
  std::mutex mutex;
  MappedFile file;  // set once, before `on`
  KeptBlocks kept;
  Bound bound;
  BlockHeap heap;  // where they are as long as nothing is spilled
  std::atomic<bool> on = false;
  std::atomic<bool> uses_heap = false;
  std::atomic<std::uint64_t> most_bytes = 0;  // as in `bound`; asked for without a lock
};

// Never destroyed, and there before any constructor runs: memory may be wanted at any time.
Blocks& blocks() {
  alignas(Blocks) static char place[sizeof(Blocks)];
  static Blocks* const made = new (place) Blocks;
  return *made;
}

// Gives back what lies in memory of the blocks whenever the process holds nearly as much as it may:
// the margin is what all threads together may take until it looks again. They may be faster than
// it is; still it rests for as long as it worked, for what is given back all the time is only read
// again.
void keep_within_bound() {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration kPause = std::chrono::milliseconds(4);
  constexpr std::uint64_t kMargin = 48 << 20;
  // Pages of files that are worth to be given back. Where there are fewer, libraries among them,
  // what is not spilled is too much alone.
  constexpr std::uint64_t kWorthWhile = 32 << 20;
  Blocks& all = blocks();
  const ResidentBytes resident;
  while (true) {
    const std::uint64_t most = all.most_bytes;
    const Resident now = resident();
    Clock::duration pause = kPause;
    if (now.bytes >= most - std::min(kMargin, most / 4) && now.of_files >= kWorthWhile) {
      const Clock::time_point begin = Clock::now();
      all.file.give_back_memory();
      pause = std::max(kPause, Clock::now() - begin);
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

bool begin(const std::filesystem::path& folder, std::uint64_t most_bytes,
           std::uint64_t needed_bytes) {
  Blocks& all = blocks();
  const std::lock_guard lock(all.mutex);
  if (!all.on) {
    if (!all.file.open(folder)) return false;
    all.bound.folder = folder;
  }
  all.bound.most_bytes = all.most_bytes = most_bytes;
  all.bound.needed_bytes = needed_bytes;
  if (!all.on) {
    all.heap.keep_nothing();
    std::thread(keep_within_bound).detach();
  }
  all.on = true;
  return true;
}

void use_huge_pages() { blocks().uses_heap = true; }

Bound bound() {
  Blocks& all = blocks();
  const std::lock_guard lock(all.mutex);
  return all.bound;
}

namespace {

bool is_spilled(const void* block) { return blocks().on && blocks().file.holds(block); }

// Throws NoRoom.
void* make_block(std::size_t bytes) {
  Blocks& all = blocks();
  const std::uint64_t with_head = KeptBlocks::rounded(round_up_to_page(bytes) + kPageBytes);
  const std::lock_guard lock(all.mutex);
  void* head = all.kept.take(with_head);
  if (head == nullptr) head = all.file.take(with_head);
  if (head == nullptr) throw NoRoom();
  new (head) BlockHead{with_head, nullptr};
  return static_cast<char*>(head) + kPageBytes;
}

// As free() does, it leaves errno as it is.
void release_block(void* block) {
  Blocks& all = blocks();
  auto* const head = reinterpret_cast<BlockHead*>(static_cast<char*>(block) - kPageBytes);
  const std::uint64_t bytes = head->bytes;
  {
    const std::lock_guard lock(all.mutex);
    if (all.kept.is_worth_keeping(head)) return all.kept.keep(head);
  }
  // Takes long for a long block: others allocate meanwhile.
  const int error = errno;
  const bool released = all.file.release(head, bytes);
  errno = error;
  if (released) return;
  head->bytes = bytes;
  const std::lock_guard lock(all.mutex);
  all.kept.keep(head);
}

}  // namespace

void* allocate(std::size_t bytes) {
  if (bytes >= kLargeBlock) {
    if (blocks().on) return make_block(bytes);
    if (void* const block = blocks().uses_heap ? blocks().heap.take(bytes) : nullptr) return block;
  }
  while (true) {
    if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void release(void* block) noexcept {
  if (block != nullptr && is_spilled(block)) {
    release_block(block);
  } else if (blocks().heap.holds(block)) {
    blocks().heap.release(block);
  } else {
    std::free(block);
  }
}

}  // namespace uctrace::spill

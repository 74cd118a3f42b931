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

// Precedes each block, for its release. A whole page, so that the block is page-aligned.
struct BlockHead {
  std::uint64_t bytes;  // with the head
  BlockHead* next;      // of those that are kept
};

// Released blocks that are reused soon, such as buffers of a chunk: so the file need not release
// and reserve their room. Sizes are rounded up, to keep few kinds of blocks.
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
  // Whether it is small enough, and more may be kept.
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
  BlockHeap heap;  // used while nothing is spilled
  std::atomic<bool> on = false;
  std::atomic<bool> uses_heap = false;
  std::atomic<std::uint64_t> most_bytes = 0;  // as in `bound`; read without a lock
};

// Never destroyed, and usable before any constructor: memory may be needed at any time.
Blocks& blocks() {
  alignas(Blocks) static char place[sizeof(Blocks)];
  static Blocks* const made = new (place) Blocks;
  return *made;
}

// Evicts blocks from memory whenever the process is near its bound: the margin covers what all
// threads may take until the next check. Threads may be faster; still it sleeps as long as it
// worked, because memory evicted all the time would only be read again.
void keep_within_bound() {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration kPause = std::chrono::milliseconds(4);
  constexpr std::uint64_t kMargin = 48 << 20;
  // File pages worth evicting. With fewer, which include libraries, the unspilled memory alone
  // exceeds the bound.
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

// Like free(), it keeps errno.
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

#include "log-merger/spill/block_heap.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace uctrace::spill {
namespace {

// Precedes each block. A cache line long, so the block is aligned to one.
struct alignas(64) Head {
  std::size_t bytes;  // with the head
};

constexpr std::size_t round_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

}  // namespace

bool BlockHeap::reserve() {
  void* const range = mmap(nullptr, kMostBytes + kHugePage, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(range);
  begin_ = static_cast<char*>(range) + (round_up(address, kHugePage) - address);
  madvise(begin_, kMostBytes, MADV_HUGEPAGE);  // else it is slower
  return true;
}

// Appends a free part of at least this size.
bool BlockHeap::make_usable(std::size_t bytes) {
  if (failed_ || (begin_ == nullptr && !reserve())) {
    failed_ = true;
    return false;
  }
  const std::size_t more = round_up(std::max(bytes, kStep), kHugePage);
  if (more > kMostBytes - usable_) return false;
  char* const begin = begin_ + usable_;
  if (mprotect(begin, more, PROT_READ | PROT_WRITE) != 0) return false;
  usable_ += more;
  add(begin, {more, 0});
  return true;
}

// Joins adjacent free parts.
void BlockHeap::add(char* begin, Free free) {
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && begin + free.bytes == next->first) {
    const auto joined = next++;
    const Free behind = remove(joined);
    free.bytes += behind.bytes;
    free.kept += behind.kept;
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second.bytes == begin) {
      begin = before->first;
      const Free in_front = remove(before);
      free.bytes += in_front.bytes;
      free.kept += in_front.kept;
    }
  }
  free_.emplace(begin, free);
  by_size_.emplace(free.bytes, begin);
  kept_ += free.kept;
}

BlockHeap::Free BlockHeap::remove(FreeByPlace::iterator free) {
  const Free removed = free->second;
  by_size_.erase({removed.bytes, free->first});
  kept_ -= removed.kept;
  free_.erase(free);
  return removed;
}

// Huge pages that a block partly uses stay whole: splitting one takes time and frees nothing.
void BlockHeap::give_back(FreeByPlace::iterator free) {
  const std::size_t first = round_up(static_cast<std::size_t>(free->first - begin_), kHugePage);
  const std::size_t end =
      static_cast<std::size_t>(free->first + free->second.bytes - begin_) / kHugePage * kHugePage;
  if (first < end) madvise(begin_ + first, end - first, MADV_DONTNEED);
  kept_ -= free->second.kept;
  free->second.kept = 0;
}

// Takes the beginning of the smallest part that is large enough.
void* BlockHeap::take(std::size_t bytes) {
  if (bytes > kMostBytes / 2) return nullptr;
  const std::size_t with_head = round_up(bytes, sizeof(Head)) + sizeof(Head);
  const std::lock_guard lock(mutex_);
  auto found = by_size_.lower_bound({with_head, nullptr});
  if (found == by_size_.end()) {
    if (!make_usable(with_head)) return nullptr;
    found = by_size_.lower_bound({with_head, nullptr});
  }
  char* const begin = found->second;
  const Free part = remove(free_.find(begin));
  if (part.bytes > with_head) {
    add(begin + with_head, {part.bytes - with_head, part.kept - std::min(part.kept, with_head)});
  }
  return reinterpret_cast<char*>(new (begin) Head{with_head}) + sizeof(Head);
}

void BlockHeap::release(void* block) {
  char* const begin = static_cast<char*>(block) - sizeof(Head);
  const std::size_t bytes = reinterpret_cast<const Head*>(begin)->bytes;
  const std::lock_guard lock(mutex_);
  add(begin, {bytes, bytes});
  if (bytes >= kLargestKept || kept_ > most_kept_) {
    give_back(std::prev(free_.upper_bound(begin)));
  }
}

void BlockHeap::keep_nothing() {
  const std::lock_guard lock(mutex_);
  most_kept_ = 0;
  for (auto free = free_.begin(); free != free_.end(); ++free) give_back(free);
}

std::size_t BlockHeap::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_;
}

}  // namespace uctrace::spill

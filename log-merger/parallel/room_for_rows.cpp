#include "log-merger/parallel/room_for_rows.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace uctrace {

namespace {

// The complete pages inside.
std::span<std::byte> pages_of(std::span<std::byte> memory) {
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t begin = (first + page_bytes - 1) / page_bytes * page_bytes;
  const std::uintptr_t end = (first + memory.size()) / page_bytes * page_bytes;
  return begin < end ? std::span(reinterpret_cast<std::byte*>(begin), end - begin)
                     : std::span<std::byte>();
}

}  // namespace

void prepare_memory(std::span<std::byte> memory, const Workers& workers) {
#ifdef MADV_POPULATE_WRITE
  constexpr std::size_t kPart = 4 << 20;
  const std::span<std::byte> pages = pages_of(memory);
  if (memory.size() < kPart) return;
  workers.each_part(pages.size(), kPart, [&](std::size_t begin, std::size_t end) {
    madvise(pages.data() + begin, end - begin, MADV_POPULATE_WRITE);
  });
#else
  (void)memory, (void)workers;
#endif
}

void give_back_memory(std::span<std::byte> memory) {
  const std::span<std::byte> pages = pages_of(memory);
  if (!pages.empty()) madvise(pages.data(), pages.size(), MADV_DONTNEED);
}

}  // namespace uctrace

#include "log-merger/parallel/room_for_rows.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace uctrace {

void prepare_memory(std::span<std::byte> memory, const Workers& workers) {
#ifdef MADV_POPULATE_WRITE
  constexpr std::size_t kPart = 4 << 20;
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data()) + page_bytes - 1;
  const std::uintptr_t first = begin - begin % page_bytes;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(memory.data()) + memory.size();
  if (memory.size() < kPart || first >= end) return;
  workers.each_part(
      (end - first) / page_bytes * page_bytes, kPart, [&](std::size_t part, std::size_t part_end) {
        madvise(reinterpret_cast<void*>(first + part), part_end - part, MADV_POPULATE_WRITE);
      });
#else
  (void)memory, (void)workers;
#endif
}

}  // namespace uctrace

#include "event-log/removed_log.hpp"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

namespace uctrace::log {
namespace {

// The file is still there for who has it open.
void count_records(const OutputLog& file, Losses& losses) {
  auto* buffer = static_cast<unsigned char*>(map_memory(kMaxChunkBytes));
  if (buffer == nullptr) {
    return;
  }
  std::uint64_t at = kProcessPageBytes;
  while (at < file.bytes) {
    const ssize_t got = pread(file.fd, buffer, kMaxChunkBytes, static_cast<off_t>(at));
    const auto* chunk = reinterpret_cast<const ChunkHeader*>(buffer);
    if (got < static_cast<ssize_t>(sizeof *chunk)) {
      break;
    }
    if (chunk->magic != kChunkMagic || chunk->bytes < kMinChunkBytes) {
      at += kMinChunkBytes;
      continue;
    }
    if (chunk->sequence != 0) {
      const auto bytes = std::min<std::uint64_t>(chunk->bytes, static_cast<std::uint64_t>(got));
      walk_records(buffer, sizeof *chunk, bytes,
                   [&](RecordType type) { losses.count(chunk->lane, type); });
    }
    at += chunk->bytes;
  }
  unmap_memory(buffer, kMaxChunkBytes);
}

}  // namespace

void keep_counters(const OutputLog& file, const Losses& losses, int reason) {
  const OutputLog kept = create_fallback_log(*file.page, reason);
  if (kept.fd < 0) {
    return;
  }
  auto* lanes = reinterpret_cast<char*>(kept.page) + kLanesOffset;
  memcpy(lanes, reinterpret_cast<const char*>(file.page) + kLanesOffset,
         kMaxLanes * sizeof(LaneInfo));
  subtract_losses(reinterpret_cast<LaneInfo*>(lanes), losses);
  kept.page->closed = 1;
  write_at(kept.fd, kept.page, kProcessPageBytes, 0);
}

void keep_counters_of_removed(const OutputLog& file, Losses& losses) {
  count_records(file, losses);
  keep_counters(file, losses, ENOENT);
}

}  // namespace uctrace::log

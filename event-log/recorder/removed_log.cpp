#include "event-log/recorder/removed_log.hpp"

#include <string.h>

#include "event-log/recorder/packer_parts.hpp"

namespace uctrace::log {

void keep_counters(int reason) {
  const Part* parts = packer->parts;
  auto* page = reinterpret_cast<ProcessPage*>(parts[0].copy);
  for (std::size_t i = 1; i < packer->part_count; ++i) {
    page->lane_tables[i - 1] = kProcessPageBytes + (i - 1) * kLaneTableBytes;
  }
  const OutputLog kept = create_fallback_log(*page, reason);
  if (kept.fd < 0) {
    return;
  }
  for (std::size_t i = 1; i < packer->part_count; ++i) {
    write_at(kept.fd, parts[i].copy, parts[i].bytes, page->lane_tables[i - 1]);
  }
  memcpy(reinterpret_cast<char*>(kept.page) + kLanesOffset, parts[0].copy + kLanesOffset,
         kPageLanes * sizeof(LaneInfo));
  kept.page->allocated_bytes = kProcessPageBytes + (packer->part_count - 1) * kLaneTableBytes;
  kept.page->live_bytes = 0;
  kept.page->closed = 1;
  write_at(kept.fd, kept.page, kProcessPageBytes, 0);
}

}  // namespace uctrace::log

#include "event-log/removed_log.hpp"

#include <errno.h>
#include <string.h>

#include "event-log/block_file.hpp"

namespace uctrace::log {
namespace {

// The file is still there for who has it open.
void count_records(const OutputLog& file, std::uint64_t end, Losses& losses) {
  BlockFile::visit_blocks(file.fd, kProcessPageBytes, end, [&](const BlockHeader& block) {
    for (std::size_t kind = 0; kind < kDropKinds; ++kind) {
      losses.count(block.lane % kMaxLanes, static_cast<DropKind>(kind), block.records[kind]);
    }
  });
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

void keep_counters_of_removed(const OutputLog& file, std::uint64_t end, Losses& losses) {
  count_records(file, end, losses);
  keep_counters(file, losses, ENOENT);
}

}  // namespace uctrace::log

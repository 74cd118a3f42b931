#include "log-merger/partitions/partition_lines.hpp"

#include <algorithm>

namespace uctrace::merge {

PartitionRange overlapping(std::uint64_t i, std::uint64_t own, std::uint64_t others) {
  return {others * i / own, (others * (i + 1) + own - 1) / own};
}

namespace {

// The beginning of partition i of `count`. Avoids products beyond 64 bits.
std::uint64_t begin_of(std::uint64_t i, std::uint64_t count, std::uint64_t bytes) {
  return bytes / count * i + bytes % count * i / count;
}

}  // namespace

std::uint64_t common_bytes(std::uint64_t i, std::uint64_t sends, std::uint64_t j,
                           std::uint64_t receives, std::uint64_t bytes) {
  const std::uint64_t begin = std::max(begin_of(i, sends, bytes), begin_of(j, receives, bytes));
  const std::uint64_t end =
      std::min(begin_of(i + 1, sends, bytes), begin_of(j + 1, receives, bytes));
  return end > begin ? end - begin : 0;
}

}  // namespace uctrace::merge

// Walks the published records of a chunk in place, in the process that writes it. Private to
// event-log/; the reader, which trusts nothing, has its own walk.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/file_layout.hpp"

namespace uctrace::log {

// Calls visit(record) for each record at offset `from` of `chunk` or later, until one is not
// published or its visit returns false. Returns the offset of that one.
template <typename Visit>
std::uint32_t walk_records(const ChunkHeader* chunk, std::uint32_t from, Visit visit) {
  const auto* base = reinterpret_cast<const unsigned char*>(chunk);
  std::uint32_t at = from;
  while (at + sizeof(Head) <= chunk->bytes) {
    const auto* record = reinterpret_cast<const std::uint64_t*>(base + at);
    const std::uint32_t bytes =
        static_cast<std::uint8_t>(__atomic_load_n(record, __ATOMIC_ACQUIRE) >> 8) * 8u;
    if (bytes == 0 || at + bytes > chunk->bytes || !visit(record)) {
      break;
    }
    at += bytes;
  }
  return at;
}

// For records that were made and then lost: moves them from the recorded to the dropped counts.
// `lane` is a copy that nobody else counts in.
inline void count_lost(LaneInfo& lane, DropKind kind, std::uint64_t records, DropCause cause) {
  LaneCounters& counters = lane.counters;
  if (kind != DropKind::definition) {
    counters.recorded_events -=
        records < counters.recorded_events ? records : counters.recorded_events;
  }
  counters.dropped[static_cast<std::size_t>(kind)] += records;
  lane.dropped_by_cause[static_cast<std::size_t>(cause)] += records;
}

}  // namespace uctrace::log

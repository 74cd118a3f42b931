// Walking the published records of a chunk where it lies, by the process that writes it. Private to
// event-log/; the reader, which trusts nothing, has a walk of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/file_layout.hpp"

namespace uctrace::log {

// Records that were made and then lost, by lane and kind. Of the event stream alone for `events`.
struct Losses {
  std::uint64_t records[kMaxLanes][kDropKinds];
  std::uint64_t events[kMaxLanes];

  void count(std::uint16_t lane, DropKind kind, std::uint64_t times) {
    records[lane][static_cast<std::size_t>(kind)] += times;
    events[lane] += kind != DropKind::definition ? times : 0;
  }
};

// Calls visit(record) for each record that begins `from` bytes into `chunk` or later, until one
// that is not published, or that it returns false of. Returns where that one begins.
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

// Moves what was lost from the counts of recorded events to those of dropped records in `lanes`.
inline void subtract_losses(LaneInfo* lanes, const Losses& losses) {
  for (std::size_t i = 0; i < kMaxLanes; ++i) {
    LaneCounters& counters = lanes[i].counters;
    counters.recorded_events -=
        losses.events[i] < counters.recorded_events ? losses.events[i] : counters.recorded_events;
    for (std::size_t kind = 0; kind < kDropKinds; ++kind) {
      counters.dropped[kind] += losses.records[i][kind];
    }
  }
}

}  // namespace uctrace::log

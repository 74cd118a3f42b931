// Walking the published records of a chunk where it lies, by the process that writes it. Private to
// event-log/; the reader, which trusts nothing, has a walk of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/definitions.hpp"
#include "event-log/events.hpp"

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

// Calls visit(type) for each record that begins in [from, to) of `chunk`, until one that is not
// published. Returns where the walk ended.
template <typename Visit>
std::uint64_t walk_records(const void* chunk, std::uint64_t from, std::uint64_t to, Visit visit) {
  const auto* base = static_cast<const unsigned char*>(chunk);
  std::uint64_t at = from;
  while (at + sizeof(Head) <= to) {
    const std::uint64_t head =
        __atomic_load_n(reinterpret_cast<const std::uint64_t*>(base + at), __ATOMIC_ACQUIRE);
    const std::uint64_t bytes = (head >> 8 & 0xff) * 8;
    if (bytes == 0 || at + bytes > to) {
      break;
    }
    visit(static_cast<RecordType>(head & 0xff));
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

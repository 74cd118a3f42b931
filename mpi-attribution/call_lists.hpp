// Lists that belong to a call: its requests, those that ended, partitions (log::MpiRequests).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "event-log/format/codec.hpp"
#include "event-log/recorder/recorder.hpp"

namespace uctrace::mpi {

using log::MpiRequests;

// The number of words that packing compares one by one: in a loop most requests have the same
// handles as the time before.
inline constexpr std::size_t kWordsOfList = log::kCodedWords - sizeof(MpiRequests) / 8;
static_assert(kWordsOfList <= MpiRequests::kMost);

// A record for the call that began at `tick`, with room for `words` after its head; nullptr =
// dropped or not wanted.
inline MpiRequests* reserve_list(std::uint64_t tick, std::size_t words) {
  log::Lane* lane = log::lane();
  if (lane == nullptr) {
    log::count_without_lane(log::DropKind::mpi);
    return nullptr;
  }
  ++lane->counters().mpi_request_records;
  auto* record = lane->reserve<MpiRequests>(log::DropKind::mpi, words * 8);
  if (record != nullptr) record->tick = tick;
  return record;
}

inline void publish_list(MpiRequests* record, std::uint16_t flags, std::size_t count) {
  log::publish(record, log::RecordType::mpi_requests, MpiRequests::words_of(flags, count), flags,
               static_cast<std::uint32_t>(count));
}

// Records `count` requests: handle_of(position).
template <typename HandleOf>
void record_handles(std::uint64_t tick, std::size_t count, HandleOf handle_of) {
  for (std::size_t done = 0; done < count;) {
    const std::size_t some = std::min(count - done, kWordsOfList);
    if (MpiRequests* record = reserve_list(tick, some)) {
      auto* to = reinterpret_cast<std::uint64_t*>(record + 1);
      for (std::size_t i = 0; i < some; ++i) to[i] = handle_of(done + i);
      publish_list(record, done + some < count ? MpiRequests::kMore : 0, some);
    }
    done += some;
  }
}

// Records `count` numbers: number_of(i), called in this order. `flags` tell their meaning.
template <typename NumberOf>
void record_numbers(std::uint64_t tick, std::uint16_t flags, std::size_t count,
                    NumberOf number_of) {
  for (std::size_t done = 0; done < count;) {
    const std::size_t some = std::min(count - done, 2 * kWordsOfList);
    if (MpiRequests* record = reserve_list(tick, (some + 1) / 2)) {
      auto* to = reinterpret_cast<std::uint64_t*>(record + 1);
      for (std::size_t i = 0; i < some; ++i) {
        const std::uint64_t number = static_cast<std::uint32_t>(number_of(done + i));
        to[i / 2] |= number << i % 2 * 32;
      }
      publish_list(record, done + some < count ? flags | MpiRequests::kMore : flags, some);
    }
    done += some;
  }
}

}  // namespace uctrace::mpi

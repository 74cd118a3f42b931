#include "event-log/recorder/packing_team.hpp"

#include <algorithm>

#include "event-log/recorder/futex.hpp"
#include "event-log/recorder/output_log.hpp"
#include "event-log/recorder/packer_parts.hpp"
#include "event-log/recorder/record_walk.hpp"
#include "event-log/recorder/thread.hpp"
#include "event-log/recorder/ticks.hpp"

namespace uctrace::log {

namespace {

constexpr long kRestNs = 60'000'000'000;
constexpr long kWaitNs = 1'000'000;  // then the waiting thread checks whether that thread is gone
// A thread of the program encodes a chunk in some 30 us if it has a core. If it has none, redoing
// its work costs no more than waiting, and all threads that want a chunk wait as well.
constexpr std::uint64_t kCallerNs = 2'000'000;

}  // namespace

void Desk::encode(const ChunkHeader& chunk, std::uint32_t from, std::size_t room) {
  encoder.begin(chunk, from, block, room);
  to = walk_records(&chunk, from,
                    [this](const std::uint64_t* record) { return encoder.add(record); });
  if (to != from) {
    encoder.end();
  }
}

PackingTeam* PackingTeam::make() {
  return static_cast<PackingTeam*>(map_memory(sizeof(PackingTeam)));
}

bool PackingTeam::give(std::size_t number, const ChunkHeader& chunk, std::uint32_t from) {
  Place& place = place_of(number);
  if (place.state.load(std::memory_order_acquire) != kFree) {
    return false;
  }
  place.chunk = &chunk;
  place.from = from;
  place.state.store(kGiven, std::memory_order_release);
  offers_.fetch_add(1, std::memory_order_seq_cst);
  if (waiting_.load(std::memory_order_seq_cst) != 0) {
    futex_wake(offers_);
  }
  return true;
}

bool PackingTeam::encode_one(std::uint32_t worker) {
  const std::size_t oldest = oldest_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < kDesks; ++i) {
    Place& place = place_of(oldest + i);
    std::uint32_t given = kGiven;
    if (place.state.load(std::memory_order_relaxed) == kGiven &&
        place.state.compare_exchange_strong(given, worker, std::memory_order_acq_rel)) {
      const std::uint64_t begun = monotonic_raw_ns();
      place.desk.encode(*place.chunk, place.from, kMostBlockBytes);
      place.encoding_ns = monotonic_raw_ns() - begun;
      if (worker != kPacker) assisted_.fetch_add(1, std::memory_order_relaxed);
      std::uint32_t mine = worker;
      const bool wanted = place.state.compare_exchange_strong(mine, kDone);
      if (!wanted) place.state.store(kFree, std::memory_order_release);
      futex_wake(place.state);
      return true;
    }
  }
  return false;
}

bool PackingTeam::is_gone(std::uint32_t worker) const {
  return lives_[worker - kPacker - 1].load(std::memory_order_acquire) == 0;
}

// If the thread is gone, because a sandbox killed it in the middle of its work, its chunk is given
// out once more. For a thread of the program this cannot be known.
bool PackingTeam::wait_while_taken(Place& place, std::uint64_t since_ns) {
  std::uint32_t state = place.state.load(std::memory_order_acquire);
  if (state <= kPacker) {
    return true;
  }
  if (state == kCaller && monotonic_raw_ns() - since_ns > kCallerNs) {
    return !place.state.compare_exchange_strong(state, kLeft);
  }
  if (state != kCaller && is_gone(state)) {
    place.state.compare_exchange_strong(state, kGiven, std::memory_order_acq_rel);
  } else {
    futex_wait(place.state, state, kWaitNs);
  }
  return true;
}

Desk* PackingTeam::wait_for(std::size_t number) {
  Place& place = place_of(number);
  oldest_.store(number, std::memory_order_relaxed);
  std::uint64_t idle_since = 0;
  while (place.state.load(std::memory_order_acquire) != kDone) {
    if (encode_one(kPacker)) {
      idle_since = 0;
      continue;
    }
    idle_since = idle_since == 0 ? monotonic_raw_ns() : idle_since;
    if (!wait_while_taken(place, idle_since)) {
      return nullptr;
    }
  }
  return &place.desk;
}

bool PackingTeam::is_held(const ChunkHeader& chunk) const {
  return std::any_of(places_, places_ + kDesks, [&](const Place& place) {
    return place.state.load(std::memory_order_acquire) == kLeft && place.chunk == &chunk;
  });
}

const ChunkHeader* PackingTeam::held_chunk() const {
  const Place* const held = std::find_if(places_, places_ + kDesks, [](const Place& place) {
    return place.state.load(std::memory_order_acquire) == kLeft;
  });
  return held != places_ + kDesks ? held->chunk : nullptr;
}

void PackingTeam::put_away(std::size_t number) {
  place_of(number).state.store(kFree, std::memory_order_relaxed);
}

void PackingTeam::take_back() {
  const std::uint64_t begun = monotonic_raw_ns();
  for (Place& place : places_) {
    for (std::uint32_t state;
         (state = place.state.load(std::memory_order_acquire)) != kFree && state != kLeft;) {
      if (state > kPacker) {
        wait_while_taken(place, begun);
      } else {
        place.state.compare_exchange_strong(state, kFree, std::memory_order_acq_rel);
      }
    }
  }
}

// --- threads -------------------------------------------------------------------------------------

// Waits until dismissed. False: a sandbox forbids waiting. The dismissal is stored before the futex
// words change: so the words are read first.
bool PackingTeam::serve(std::uint32_t worker) {
  const std::uint32_t index = worker - kPacker - 1;
  for (;;) {
    const std::uint32_t active = active_.load(std::memory_order_acquire);
    const std::uint32_t seen = offers_.load(std::memory_order_seq_cst);
    if (dismissed_.load(std::memory_order_acquire)) {
      return true;
    }
    if (index >= active) {
      if (!futex_wait(active_, active, kRestNs)) return false;
    } else if (!encode_one(worker)) {
      waiting_.fetch_add(1, std::memory_order_seq_cst);
      const bool waited = futex_wait(offers_, seen, kRestNs);
      waiting_.fetch_sub(1, std::memory_order_seq_cst);
      if (!waited) return false;
    }
  }
}

std::uint32_t PackingTeam::join() {
  const std::uint32_t index = joined_.fetch_add(1, std::memory_order_relaxed);
  tell_life(lives_[index]);
  return kPacker + 1 + index;
}

void* PackingTeam::assist(void*) {
  PackingTeam& team = *packer->team;
  if (!team.serve(team.join())) {
    return nullptr;
  }
  leave_thread();
}

std::uint32_t PackingTeam::start(std::uint32_t threads) {
  while (started_ < threads && spawn_thread(assist)) {
    ++started_;
  }
  return started_;
}

bool PackingTeam::hire(std::uint32_t threads) {
  const std::uint32_t active = std::min(threads, started_);
  if (active_.load(std::memory_order_relaxed) != active) {
    futex_set(active_, active);
    futex_bump(offers_);  // threads waiting there may have to rest
  }
  return active != 0;
}

// 1: its thread id is not known; it counts as a thread of the program.
std::uint32_t PackingTeam::threads() const {
  return static_cast<std::uint32_t>(
      std::count_if(lives_, lives_ + kMostHelpers, [](const std::atomic<std::uint32_t>& lives) {
        return lives.load(std::memory_order_relaxed) > 1;
      }));
}

void PackingTeam::dismiss() {
  dismissed_.store(true, std::memory_order_release);
  futex_bump(active_);
  futex_bump(offers_);
}

}  // namespace uctrace::log

#include "event-log/supply.hpp"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "event-log/futex.hpp"
#include "event-log/helper.hpp"
#include "event-log/open_files.hpp"
#include "event-log/packer.hpp"
#include "event-log/thread.hpp"

namespace uctrace::log {

constinit Supply supply{};

namespace {

constexpr std::size_t kReadyAtStart = 8;  // chunks that the program waits for
constexpr std::size_t kSlabsAtStart = 4;
constexpr long kStartWaitNs = 2'000'000'000;
constexpr long kStopWaitNs = 2'000'000'000;

constexpr std::uint32_t kStartOk = 1, kStartFailed = 2, kStartGivenUp = 3;
constexpr std::uint32_t kStopAsked = 1, kStopped = 2;

void* helper_main(void*) {
  Helper helper;
  leave_open_files();
  tick_clock = choose_clock();
  helper.budget = memory_budget();
  helper.file = create_output_log();
  if (helper.file.fd < 0) {
    supply.start_errno = errno;
    futex_set(supply.ready, kStartFailed);
    return nullptr;
  }
  if (!start_packer(helper.file)) {
    helper.file.grows = false;
    helper.file.page->write_errno = ENOMEM;
  }
  set_ready_target(helper.ready_target);
  supply.page = helper.file.page;
  helper.last_poll = monotonic_raw_ns();
  helper.fill_chunks(std::min(kReadyAtStart, helper.missing_chunks()));
  helper.fill_slabs(kSlabsAtStart);
  std::uint32_t waiting = 0;
  if (!supply.ready.compare_exchange_strong(waiting, kStartOk, std::memory_order_acq_rel)) {
    remove_output_log(helper.file);  // nobody waits any more: the file system took too long
    return nullptr;
  }
  futex_wake(supply.ready);
  reserve_log();
  helper.fill_chunks(helper.missing_chunks());
  helper.fill_slabs(helper.missing_slabs());

  for (;;) {
    const std::uint32_t seen = supply.wanted.load(std::memory_order_acquire);
    if (supply.stop.load(std::memory_order_acquire) != 0) {
      break;
    }
    const std::uint64_t next_poll = helper.poll();
    supply.wake_below.store(helper.wake_below(next_poll), std::memory_order_relaxed);
    futex_wait(supply.wanted, seen, static_cast<long>(next_poll));
  }
  helper.finish();
  futex_set(supply.stop, kStopped);
  leave_thread();
}

}  // namespace

LaneInfo* lane_info(ProcessPage* page, std::size_t index) {
  return reinterpret_cast<LaneInfo*>(reinterpret_cast<char*>(page) + kLanesOffset) + index;
}

void take_back_dead_lanes() {
  const int saved_errno = errno;
  ProcessPage* page = supply.page;
  const std::uint32_t used = __atomic_load_n(&page->lanes_used, __ATOMIC_ACQUIRE);
  for (std::size_t i = 0; i < used && i < kMaxLanes; ++i) {
    LaneInfo* info = lane_info(page, i);
    std::uint32_t tid = __atomic_load_n(&info->tid, __ATOMIC_RELAXED);
    const bool dead = __atomic_load_n(&info->state, __ATOMIC_ACQUIRE) == 1 && tid != 0 &&
                      syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;
    // Several threads may look at once: the lane is given back by the one that clears the id.
    if (dead && __atomic_compare_exchange_n(&info->tid, &tid, 0, false, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED)) {
      __atomic_store_n(&info->state, 2, __ATOMIC_RELEASE);
    }
  }
  errno = saved_errno;
}

namespace {

// Waits for the helper. Returns why there will be none, 0 = it is there.
int wait_for_helper() {
  const std::uint64_t give_up = monotonic_raw_ns() + kStartWaitNs;
  std::uint32_t seen = 0;
  while ((seen = supply.ready.load(std::memory_order_acquire)) == 0) {
    if (monotonic_raw_ns() >= give_up &&
        supply.ready.compare_exchange_strong(seen, kStartGivenUp, std::memory_order_acq_rel)) {
      return ETIMEDOUT;
    }
    futex_wait(supply.ready, 0, kStartWaitNs / 10);
  }
  return seen == kStartOk ? 0 : supply.start_errno;
}

constinit char counters_path[sizeof(OutputLog::path)];

// Without a helper there are no chunks: the page alone, which counts what is not recorded. It is
// made on the program's thread and leaves no file open among the program's.
bool start_counting(int reason) {
  tick_clock = choose_clock();
  OutputLog file = create_counters_log(reason);
  if (file.fd < 0) {
    return false;
  }
  close(file.fd);
  memcpy(counters_path, file.path, sizeof file.path);
  supply.page = file.page;
  return true;
}

// The last word of a log that has no helper.
void end_counting() {
  __atomic_store_n(&supply.page->closed, 1, __ATOMIC_RELEASE);
  if (supply.page->storage == Storage::drained) {
    rewrite_page(counters_path, *supply.page);
  }
}

}  // namespace

bool start_supply(Lane* lanes) {
  const int saved_errno = errno;
  memset(static_cast<void*>(&supply), 0, sizeof supply);  // a fork child inherits its parent's
  forget_packer();
  supply.lanes = lanes;
  const int reason = spawn_thread(helper_main) ? wait_for_helper() : EAGAIN;
  supply.has_helper = reason == 0;
  const bool ok = reason == 0 || start_counting(reason);
  errno = saved_errno;
  return ok;
}

void wake_supply() {
  const int saved_errno = errno;
  supply.wanted.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &supply.wanted, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  errno = saved_errno;
}

void stop_supply() {
  const int saved_errno = errno;
  if (!supply.has_helper) {
    end_counting();
    errno = saved_errno;
    return;
  }
  supply.stop.store(kStopAsked, std::memory_order_release);
  wake_supply();
  const std::uint64_t give_up = monotonic_raw_ns() + kStopWaitNs;
  while (supply.stop.load(std::memory_order_acquire) != kStopped && monotonic_raw_ns() < give_up) {
    futex_wait(supply.stop, kStopAsked, kStopWaitNs / 10);
  }
  wait_for_packer();
  errno = saved_errno;
}

namespace {

void wake_if_short() {
  const std::uint32_t below = supply.wake_below.load(std::memory_order_relaxed);
  if (supply.ready_chunks.load(std::memory_order_relaxed) < below &&
      supply.wake_below.exchange(0, std::memory_order_relaxed) != 0) {
    wake_supply();
  }
}

}  // namespace

ChunkHeader* take_chunk() {
  if (supply.ready_chunks.load(std::memory_order_relaxed) == 0) {
    wake_if_short();
    return nullptr;
  }
  const std::uint32_t used = supply.places_used.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    Place& place = supply.places[i];
    PlaceState expected = PlaceState::ready;
    if (place.state.load(std::memory_order_relaxed) == expected &&
        place.state.compare_exchange_strong(expected, PlaceState::taken,
                                            std::memory_order_acq_rel)) {
      supply.ready_chunks.fetch_sub(1, std::memory_order_relaxed);
      wake_if_short();
      return place.chunk;
    }
  }
  return nullptr;
}

void retire_chunk(ChunkHeader* chunk) {
  Place& place = supply.places[chunk->place];
  place.retired_as = supply.retirements.fetch_add(1, std::memory_order_relaxed);
  place.state.store(PlaceState::retired, std::memory_order_release);
}

void make_ready(Place& place) {
  place.packed = 0;
  supply.ready_chunks.fetch_add(1, std::memory_order_relaxed);
  place.state.store(PlaceState::ready, std::memory_order_release);
}

Slot* take_slab() {
  for (auto& place : supply.ready_slabs) {
    if (Slot* slots = place.exchange(nullptr, std::memory_order_acquire)) {
      return slots;
    }
  }
  return nullptr;
}

}  // namespace uctrace::log

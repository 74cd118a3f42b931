#include "event-log/recorder/supply.hpp"

#include <algorithm>

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event-log/format/drop_causes.hpp"
#include "event-log/recorder/futex.hpp"
#include "event-log/recorder/helper.hpp"
#include "event-log/recorder/lanes.hpp"
#include "event-log/recorder/no_helper.hpp"
#include "event-log/recorder/open_files.hpp"
#include "event-log/recorder/packer.hpp"
#include "event-log/recorder/thread.hpp"

namespace uctrace::log {

constinit Supply supply{};

namespace {

constexpr std::size_t kReadyAtStart = 8;  // chunks that the program waits for
constexpr std::size_t kSlabsAtStart = 4;
constexpr std::uint64_t kStartWaitNs = 2'000'000'000;
constexpr std::uint64_t kPrepareWaitNs = 30'000'000'000;
constexpr long kStopWaitNs = 2'000'000'000;

constexpr std::uint32_t kStartOk = 1, kStartFailed = 2, kStartGivenUp = 3;
constexpr std::uint32_t kStopAsked = 1, kStopped = 2;

// The log, its packer and its lanes. False, with errno set: neither folder can be written.
bool open_log(Helper& helper) {
  leave_open_files();
  tick_clock = choose_clock();
  helper.budget = memory_budget();
  helper.file = create_output_log();
  if (helper.file.fd < 0) {
    return false;
  }
  supply.page = helper.file.page;
  start_lanes(helper.file.page);
  if (!helper.file.grows) {
    helper.stop_growing(static_cast<int>(helper.file.page->write_errno));
  }
  if (!start_packer(helper.file)) {
    helper.stop_growing(ENOMEM);
  }
  set_ready_target(helper.ready_target);
  helper.last_poll = monotonic_raw_ns();
  return true;
}

// Tells who starts the log that it is there. False: nobody waits any more, the file system took too
// long.
bool announce(const Helper& helper) {
  supply.next_look_ns.store(monotonic_raw_ns() + kGoneNs, std::memory_order_relaxed);
  std::uint32_t waiting = 0;
  if (!supply.ready.compare_exchange_strong(waiting, kStartOk, std::memory_order_acq_rel)) {
    remove_output_log(helper.file);
    return false;
  }
  futex_wake(supply.ready);
  return true;
}

void* fail_to_start(int error) {
  supply.start_errno = error;
  futex_set(supply.ready, kStartFailed);
  return nullptr;
}

void* helper_main(void*) {
  Helper helper;
  if (!open_log(helper)) {
    return fail_to_start(errno);
  }
  helper.fill_chunks(std::min(kReadyAtStart, helper.missing_chunks()));
  helper.fill_slabs(kSlabsAtStart);
  if (!announce(helper)) {
    return nullptr;
  }
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

// Makes everything ready that a log without a helper will ever have, and ends.
void* prepare_main(void*) {
  Helper helper;
  if (!open_log(helper)) {
    return fail_to_start(errno);
  }
  if (!helper.file.grows) {
    return fail_to_start(static_cast<int>(helper.file.page->write_errno));
  }
  if (const int error = prepare_packing_in_calls(helper); error != 0) {
    remove_output_log(helper.file);
    return fail_to_start(error);
  }
  announce(helper);
  return nullptr;
}

// Waits for the helper. Returns why there will be none, 0 = it is there.
int wait_for_helper(std::uint64_t wait_ns) {
  const std::uint64_t give_up = monotonic_raw_ns() + wait_ns;
  std::uint32_t seen = 0;
  while ((seen = supply.ready.load(std::memory_order_acquire)) == 0) {
    if (monotonic_raw_ns() >= give_up &&
        supply.ready.compare_exchange_strong(seen, kStartGivenUp, std::memory_order_acq_rel)) {
      return ETIMEDOUT;
    }
    futex_wait(supply.ready, 0, static_cast<long>(kStartWaitNs / 10));
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
  supply.shortage.store(cause_of(reason), std::memory_order_relaxed);
  supply.lane_shortage.store(cause_of(reason), std::memory_order_relaxed);
  start_lanes(file.page);
  return true;
}

// The last word of a log that has no records.
void end_counting() {
  __atomic_store_n(&supply.page->closed, 1, __ATOMIC_RELEASE);
  if (supply.page->storage == Storage::drained && !supply.no_helper) {
    rewrite_page(counters_path, *supply.page);
  }
}

}  // namespace

namespace {

// A fork child inherits its parent's. Places that were never used are not touched: they are many.
void forget_supply() {
  const std::size_t used = supply.places_used.load(std::memory_order_relaxed);
  memset(static_cast<void*>(supply.places), 0, used * sizeof supply.places[0]);
  constexpr std::size_t kBehind = offsetof(Supply, places_used);
  memset(reinterpret_cast<char*>(&supply) + kBehind, 0, sizeof supply - kBehind);
}

}  // namespace

bool start_supply() {
  const int saved_errno = errno;
  forget_supply();
  forget_packer();
  const bool alone = wants_no_helper();
  const bool begun = spawn_thread(alone ? prepare_main : helper_main);
  const int reason = begun ? wait_for_helper(alone ? kPrepareWaitNs : kStartWaitNs) : EAGAIN;
  supply.no_helper = alone;
  supply.keeps_records = reason == 0;
  supply.packs_in_calls = reason == 0 && alone;
  supply.has_helper = reason == 0 && !alone;
  const bool ok = reason == 0 || start_counting(reason);
  errno = saved_errno;
  return ok;
}

void wake_supply() {
  if (!supply.has_helper) {
    return;
  }
  const int saved_errno = errno;
  supply.wanted.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &supply.wanted, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  errno = saved_errno;
}

void stop_supply() {
  const int saved_errno = errno;
  if (!supply.has_helper) {
    supply.packs_in_calls ? close_in_call() : end_counting();
    errno = saved_errno;
    return;
  }
  const bool gone = chunk_shortage() == DropCause::helper_gone;
  supply.stop.store(kStopAsked, std::memory_order_release);
  wake_supply();
  const std::uint64_t give_up = monotonic_raw_ns() + kStopWaitNs;
  while (supply.stop.load(std::memory_order_acquire) != kStopped && monotonic_raw_ns() < give_up) {
    futex_wait(supply.stop, kStopAsked, kStopWaitNs / 10);
  }
  if (!gone || supply.stop.load(std::memory_order_acquire) == kStopped) {
    wait_for_packer();
  }
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

bool wait_for_more(std::uint32_t seen, std::uint64_t give_up_ns) {
  const std::uint64_t t = monotonic_raw_ns();
  if (!supply.has_helper || t >= give_up_ns) {
    return false;
  }
  const int saved_errno = errno;
  if (supply.waiting.fetch_add(1, std::memory_order_acq_rel) == 0) {
    wake_supply();  // while any thread waits it looks soon
  }
  futex_wait(supply.made, seen, static_cast<long>(give_up_ns - t));
  supply.waiting.fetch_sub(1, std::memory_order_acq_rel);
  errno = saved_errno;
  return true;
}

ChunkHeader* wait_for_chunk() {
  const std::uint64_t give_up = monotonic_raw_ns() + kFirstWaitNs;
  for (;;) {
    const std::uint32_t seen = supply.made.load(std::memory_order_acquire);
    if (ChunkHeader* chunk = take_chunk()) {
      return chunk;
    }
    if (supply.shortage.load(std::memory_order_relaxed) != DropCause::helper_late ||
        !wait_for_more(seen, give_up)) {
      return nullptr;
    }
  }
}

namespace {

// Whatever it last said of what is missing, a helper that is gone does not mend it.
DropCause late_or_gone(DropCause shortage) {
  const bool waits_for_helper =
      supply.has_helper &&
      (shortage == DropCause::helper_late || shortage == DropCause::packing_slow ||
       shortage == DropCause::chunks_bound);
  return waits_for_helper && monotonic_raw_ns() > supply.next_look_ns.load(std::memory_order_relaxed)
             ? DropCause::helper_gone
             : shortage;
}

}  // namespace

DropCause chunk_shortage() { return late_or_gone(supply.shortage.load(std::memory_order_relaxed)); }

DropCause lane_shortage() {
  return late_or_gone(supply.lane_shortage.load(std::memory_order_relaxed));
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

#include "event-log/recorder/pool.hpp"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "event-log/recorder/futex.hpp"
#include "event-log/recorder/packer.hpp"
#include "event-log/recorder/ticks.hpp"

namespace uctrace::log {

constinit Pool pool{};

void wake_helper() {
  if (!pool.has_helper) {
    return;
  }
  const int saved_errno = errno;
  pool.wanted.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &pool.wanted, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  errno = saved_errno;
}

namespace {

void wake_if_short() {
  const std::uint32_t below = pool.wake_below.load(std::memory_order_relaxed);
  if (pool.ready_chunks.load(std::memory_order_relaxed) < below &&
      pool.wake_below.exchange(0, std::memory_order_relaxed) != 0) {
    wake_helper();
  }
}

}  // namespace

ChunkHeader* take_chunk() {
  // Chunks from a thread that is too late with its log belong to nobody.
  if (pool.ready_chunks.load(std::memory_order_relaxed) == 0 || !pool.keeps_records) {
    wake_if_short();
    return nullptr;
  }
  const std::uint32_t used = pool.places_used.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    Place& place = pool.places[i];
    PlaceState expected = PlaceState::ready;
    if (place.state.load(std::memory_order_relaxed) == expected &&
        place.state.compare_exchange_strong(expected, PlaceState::taken,
                                            std::memory_order_acq_rel)) {
      pool.ready_chunks.fetch_sub(1, std::memory_order_relaxed);
      wake_if_short();
      return place.chunk;
    }
  }
  return nullptr;
}

namespace {

// If the helper no longer polls, expect nothing from it, whatever cause it gave last. While it or
// the packer waits for the file system, the file system is the cause.
DropCause cause_now(DropCause shortage) {
  const bool waits_for_helper = pool.has_helper && (shortage == DropCause::helper_late ||
                                                    shortage == DropCause::packing_slow ||
                                                    shortage == DropCause::chunks_bound);
  if (!waits_for_helper) {
    return shortage;
  }
  if (pool.helper_lives.load(std::memory_order_relaxed) == 0 || packer_is_gone()) {
    return DropCause::helper_gone;
  }
  if (waits_for_storage()) {
    return DropCause::storage_slow;
  }
  return monotonic_raw_ns() > pool.next_look_ns.load(std::memory_order_relaxed)
             ? DropCause::helper_gone
             : shortage;
}

// False if the helper has ended, killed by a sandbox. A helper that is only slow still makes some.
bool will_end(const Shortage& shortage) {
  return pool.has_helper &&
         shortage.cause.load(std::memory_order_relaxed) == DropCause::helper_late &&
         pool.helper_lives.load(std::memory_order_relaxed) != 0 && !packer_is_gone() &&
         !shortage.waited_in_vain.load(std::memory_order_relaxed);
}

}  // namespace

namespace {

// CPU time of the helper so far; 0 if not known. The clock id follows the kernel's scheme: of a
// thread (4), as the scheduler counts (2).
std::uint64_t cpu_ns_of_helper() {
  const auto tid = static_cast<clockid_t>(pool.helper_lives.load(std::memory_order_relaxed));
  timespec time{};
  if (syscall(SYS_clock_gettime, static_cast<clockid_t>(~tid * 8 | 4 | 2), &time) != 0) {
    return 0;
  }
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// Waits until `made` differs from `seen`; meanwhile `waiting` counts this thread. False: a sandbox
// forbids waiting.
bool wait_for_more(std::atomic<std::uint32_t>& waiting, std::uint32_t seen, std::uint64_t most_ns) {
  if (waiting.fetch_add(1, std::memory_order_acq_rel) == 0) {
    wake_helper();  // while any thread waits it polls often
  }
  const bool waited = futex_wait(pool.made, seen, static_cast<long>(most_ns));
  waiting.fetch_sub(1, std::memory_order_acq_rel);
  return waited;
}

}  // namespace

FirstWait::FirstWait(Shortage& shortage) : shortage_(shortage) {
  const std::uint64_t now = monotonic_raw_ns();
  latest_ns_ = now + kLongestFirstWaitNs;
  give_up_ns_ = now;
}

bool FirstWait::wait(std::uint32_t seen) {
  if (!will_end(shortage_)) {
    return false;
  }
  const int saved_errno = errno;
  const std::uint64_t t = monotonic_raw_ns();
  if (t >= give_up_ns_ && !gets_on(t)) {
    shortage_.waited_in_vain.store(true, std::memory_order_relaxed);
    errno = saved_errno;
    return false;
  }
  const bool waited = wait_for_more(pool.waiting, seen, give_up_ns_ - t);
  errno = saved_errno;
  return waited;
}

// A helper that sometimes gets a core makes progress, however slowly. It makes none if the file
// system blocks it or its packer.
bool FirstWait::gets_on(std::uint64_t now) {
  const std::uint64_t before = helper_ns_;
  helper_ns_ = cpu_ns_of_helper();
  give_up_ns_ = std::min(now + kFirstWaitNs, latest_ns_);
  return helper_ns_ != before && now < latest_ns_ && !waits_for_storage(kFirstWaitNs);
}

void end_shortage(Shortage& shortage) {
  if (shortage.waited_in_vain.load(std::memory_order_relaxed)) {
    shortage.waited_in_vain.store(false, std::memory_order_relaxed);
  }
}

ChunkHeader* wait_for_chunk() {
  FirstWait first(pool.chunks);
  for (;;) {
    const std::uint32_t seen = pool.made.load(std::memory_order_acquire);
    if (ChunkHeader* chunk = take_chunk()) {
      return chunk;
    }
    if (!first.wait(seen)) {
      return nullptr;
    }
  }
}

namespace {

// How long to wait for a chunk while none becomes free. 0: never wait for things that do not come
// back, such as disk space. If no chunk waits to be packed and there can be no more, threads hold
// them all, or the helper has not polled since; that shows soon.
std::uint64_t patience_ns() {
  if (pool.helper_lives.load(std::memory_order_relaxed) == 0 || packer_is_gone()) {
    return 0;
  }
  const std::uint64_t packed = pool.recycled.load(std::memory_order_acquire);
  const bool some_wait = pool.retirements.load(std::memory_order_relaxed) != packed;
  switch (pool.chunks.cause.load(std::memory_order_relaxed)) {
    case DropCause::helper_late:
      return kNeverDropStallNs;
    case DropCause::packing_slow:
    case DropCause::storage_slow:
    case DropCause::chunks_bound:
    case DropCause::no_memory:
      return some_wait ? kNeverDropStallNs : kGoneNs;
    default:
      return 0;
  }
}

void count_wait(std::uint64_t ns) {
  __atomic_fetch_add(&pool.page->waits, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&pool.page->waited_ns, ns, __ATOMIC_RELAXED);
}

}  // namespace

ChunkHeader* wait_for_free_chunk() {
  const int saved_errno = errno;
  const std::uint64_t begun = monotonic_raw_ns();
  std::uint64_t moved = begun, recycled = pool.recycled.load(std::memory_order_relaxed);
  ChunkHeader* chunk = nullptr;
  for (;;) {
    const std::uint32_t seen = pool.made.load(std::memory_order_acquire);
    const std::uint64_t now = monotonic_raw_ns();
    chunk = take_chunk();
    const std::uint64_t free_now = pool.recycled.load(std::memory_order_relaxed);
    moved = free_now != recycled ? now : moved;
    recycled = free_now;
    // After one thread has waited in vain, no other waits until there is a chunk.
    if (chunk != nullptr || pool.chunks.waited_in_vain.load(std::memory_order_relaxed)) {
      break;
    }
    if (now - moved >= patience_ns()) {
      pool.chunks.waited_in_vain.store(true, std::memory_order_relaxed);
      break;
    }
    if (!assist_packing()) {
      wait_for_more(pool.waiting_on, seen, kGoneNs);
    }
  }
  count_wait(monotonic_raw_ns() - begun);
  errno = saved_errno;
  return chunk;
}

namespace {

DropCause cause_of_drops(const Shortage& shortage) {
  return pool.keeps_records ? cause_now(shortage.cause.load(std::memory_order_relaxed))
                            : pool.why_counted;
}

}  // namespace

DropCause chunk_shortage() { return cause_of_drops(pool.chunks); }
DropCause lane_shortage() { return cause_of_drops(pool.lanes); }

void retire_chunk(ChunkHeader* chunk) {
  Place& place = pool.places[chunk->place];
  place.retired_as = pool.retirements.fetch_add(1, std::memory_order_relaxed);
  place.state.store(PlaceState::retired, std::memory_order_release);
}

void make_ready(Place& place) {
  place.packed = 0;
  pool.ready_chunks.fetch_add(1, std::memory_order_relaxed);
  end_shortage(pool.chunks);
  place.state.store(PlaceState::ready, std::memory_order_release);
}

Slot* take_slab() {
  for (auto& place : pool.ready_slabs) {
    if (Slot* slots = place.exchange(nullptr, std::memory_order_acquire)) {
      return slots;
    }
  }
  return nullptr;
}

namespace {

// Only the helper makes slots, even if the file system blocks the packer. After one thread has
// waited in vain, no other waits until there are some.
bool slabs_will_come() {
  return pool.slabs.cause.load(std::memory_order_relaxed) == DropCause::helper_late &&
         pool.stop.load(std::memory_order_relaxed) == 0 &&
         pool.helper_lives.load(std::memory_order_relaxed) != 0 &&
         !pool.slabs.waited_in_vain.load(std::memory_order_relaxed);
}

}  // namespace

Slot* wait_for_slab() {
  if (!slabs_will_come()) {
    return nullptr;
  }
  const int saved_errno = errno;
  const std::uint64_t begun = monotonic_raw_ns();
  Slot* slots = nullptr;
  for (;;) {
    const std::uint32_t seen = pool.made.load(std::memory_order_acquire);
    slots = take_slab();
    if (slots != nullptr || !slabs_will_come()) {
      break;
    }
    if (monotonic_raw_ns() - begun >= kNeverDropStallNs) {
      pool.slabs.waited_in_vain.store(true, std::memory_order_relaxed);
      break;
    }
    if (!wait_for_more(pool.waiting, seen, kGoneNs)) {
      break;
    }
  }
  count_wait(monotonic_raw_ns() - begun);
  errno = saved_errno;
  return slots;
}

}  // namespace uctrace::log

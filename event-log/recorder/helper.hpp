// The work of the helper thread: a poll has retired chunks packed, makes missing chunks and slots,
// and updates the process page. Private to helper.cpp and no_helper.cpp.
#pragma once

#include <errno.h>

#include <algorithm>

#include "event-log/format/drop_causes.hpp"
#include "event-log/recorder/counter_store.hpp"
#include "event-log/recorder/futex.hpp"
#include "event-log/recorder/lanes.hpp"
#include "event-log/recorder/main_thread.hpp"
#include "event-log/recorder/network_counters.hpp"
#include "event-log/recorder/output_log.hpp"
#include "event-log/recorder/packer.hpp"
#include "event-log/recorder/pool.hpp"
#include "event-log/recorder/process_identity.hpp"
#include "event-log/recorder/thread.hpp"
#include "event-log/recorder/ticks.hpp"

namespace uctrace::log {

// Chunks to keep ready: few at first, more once a poll finds many of them taken.
inline constexpr std::size_t kFirstReady = 48;
inline constexpr std::size_t kMostReady = 160;
inline constexpr std::size_t kMappedAtOnce = 16;
// The chunks that each thread holds, besides those that are ready or wait to be packed: two in each
// stream.
inline constexpr std::uint64_t kRingBytesOfLane = 4 * kChunkBytes;
inline constexpr std::size_t kFirstSlab = 64 * 1024;
inline constexpr std::size_t kLargestSlab = 512 * 1024;
inline constexpr std::size_t kMostSlabBytes = 64 << 20;  // of one slab a thread
inline constexpr std::uint64_t kHungryPollNs = 100'000;
inline constexpr std::uint64_t kIdlePollNs = 5'000'000;
inline constexpr std::uint64_t kHousekeepingNs = 100'000'000;

// The anchors are filled once, over the first second; after that the last one follows the clock.
inline void refresh_anchors(ProcessPage& page) {
  const std::uint32_t n = page.anchor_count;
  page.anchors[n < kAnchors ? n : kAnchors - 1] = take_anchor();
  if (n < kAnchors) {
    __atomic_store_n(&page.anchor_count, n + 1, __ATOMIC_RELEASE);
  }
}

// The helper thread's state and work; lives on its stack.
struct Helper {
  OutputLog file;
  std::size_t ready_target = kFirstReady;
  std::size_t slab_bytes = kFirstSlab;
  std::uint64_t budget = UINT64_MAX;  // for all memory together, in bytes
  std::uint64_t slab_bytes_taken = 0;
  std::uint32_t assistants = 0;     // at most so many threads help to pack
  unsigned char* mapped = nullptr;  // memory for future chunks, in the order of their places
  std::size_t mapped_bytes = 0;
  std::uint64_t last_poll = 0;
  std::uint64_t last_housekeeping = 0;
  std::uint64_t last_heartbeat = 0;

  // The recorder may take a part of the program's limit.
  std::uint64_t budget_left() const {
    const std::uint64_t taken = slab_bytes_taken + pool.ring_bytes.load(std::memory_order_relaxed);
    return budget - std::min(budget, taken);
  }
  bool within_budget(std::size_t bytes) const { return bytes <= budget_left(); }

  // For chunks that no thread holds.
  std::uint64_t most_waiting_bytes() const { return log::most_waiting_bytes(file.storage); }
  std::uint64_t most_chunk_bytes() const {
    const std::uint64_t lanes = __atomic_load_n(&file.page->lanes_used, __ATOMIC_RELAXED);
    return most_waiting_bytes() + lanes * kRingBytesOfLane;
  }

  // Why there can be no more chunks now; helper_late = there can.
  DropCause obstacle() const {
    const std::uint64_t bytes = pool.ring_bytes.load(std::memory_order_relaxed) + kChunkBytes;
    if (const int error = packer_error(); error != 0) {
      return cause_of(error);
    }
    if (!within_budget(kChunkBytes)) {
      return DropCause::no_memory;
    }
    if (bytes > kMostChunkBytes) {
      return DropCause::chunks_bound;
    }
    return bytes > most_chunk_bytes() ? backlog_cause() : DropCause::helper_late;
  }

  static DropCause backlog_cause() {
    return storage_is_slow() ? DropCause::storage_slow : DropCause::packing_slow;
  }

  // Whether so much waits to be packed that this is why threads find no chunk. Chunks that threads
  // hold do not count. A chunk is packed after it is retired: the counters are read in the opposite
  // order.
  bool has_backlog() const {
    const std::uint64_t packed = pool.recycled.load(std::memory_order_acquire);
    const std::uint64_t waiting = pool.retirements.load(std::memory_order_relaxed) - packed;
    return waiting * kChunkBytes > most_waiting_bytes() / 2;
  }

  // The memory of a drained log is anonymous; the packer notices what the file system does.
  bool map_chunks(std::size_t count) {
    const std::size_t bytes = count * kChunkBytes;
    void* memory = nullptr;
    if (file.storage == Storage::drained) {
      memory = make_chunk_memory(file, bytes);
    } else {
      const StorageCall call;
      memory = make_chunk_memory(file, bytes);
    }
    if (memory != nullptr) {
      mapped = static_cast<unsigned char*>(memory);
      mapped_bytes = bytes;
    }
    return memory != nullptr;
  }

  // As many as all bounds allow, at least the one already found to be allowed.
  std::size_t chunks_at_once(std::size_t missing) const {
    const std::uint64_t bytes = pool.ring_bytes.load(std::memory_order_relaxed);
    const std::uint64_t most = std::min(kMostChunkBytes, most_chunk_bytes());
    const std::uint64_t left = std::min(most - std::min(most, bytes), budget_left());
    return std::clamp<std::size_t>(left / kChunkBytes, 1, std::min(missing, kMappedAtOnce));
  }

  // Maps several chunks at once. For each mapping the helper waits for its turn among all threads
  // that map memory or touch it first: if many start together, that takes longer than the rest.
  ChunkHeader* make_chunk(std::uint32_t place, std::size_t missing) {
    if (mapped_bytes == 0 && !map_chunks(chunks_at_once(missing)) && !map_chunks(1)) {
      return nullptr;
    }
    auto* chunk = reinterpret_cast<ChunkHeader*>(mapped);
    mapped += kChunkBytes;
    mapped_bytes -= kChunkBytes;
    pool.ring_bytes.fetch_add(kChunkBytes, std::memory_order_relaxed);
    chunk->bytes = kChunkBytes;
    chunk->place = place;
    chunk->anchor = take_anchor();
    chunk->magic = kChunkMagic;
    return chunk;
  }

  void note_error(int error) const {
    if (file.page->write_errno == 0) {
      file.page->write_errno = static_cast<std::uint32_t>(error);
    }
  }

  // One of `missing`. helper_late = there is one more.
  DropCause provide_chunk(std::uint32_t place, std::size_t missing) {
    if (const DropCause cause = obstacle(); cause != DropCause::helper_late) {
      if (cause == DropCause::no_memory) {
        note_error(ENOMEM);
      }
      return cause;
    }
    ChunkHeader* chunk = make_chunk(place, missing);
    if (chunk == nullptr) {
      const int error = errno;
      note_error(error);
      return cause_of(error);
    }
    pool.places[place].chunk = chunk;
    if (place >= pool.places_used.load(std::memory_order_relaxed)) {
      pool.places_used.store(place + 1, std::memory_order_release);
    }
    make_ready(pool.places[place]);
    return DropCause::helper_late;
  }

  std::size_t missing_chunks() const {
    const std::size_t ready = pool.ready_chunks.load(std::memory_order_relaxed);
    return file.grows && ready < ready_target ? ready_target - ready : 0;
  }

  // Makes up to `missing` chunks, in the lowest places. Returns why there are fewer, as the cause
  // for threads that find none; helper_late = all were made.
  DropCause fill_chunks(std::size_t missing) {
    DropCause shortage = DropCause::helper_late;
    for (std::uint32_t i = 0; i < kPlaces && missing > 0 && shortage == DropCause::helper_late;
         ++i) {
      if (pool.places[i].state.load(std::memory_order_acquire) == PlaceState::none) {
        shortage = provide_chunk(i, missing);
        --missing;
      }
    }
    if (shortage == DropCause::helper_late && has_backlog()) {
      shortage = backlog_cause();
    }
    if (file.grows) {
      pool.chunks.cause.store(shortage, std::memory_order_relaxed);
    }
    return shortage;
  }

  // No more chunks are made, for good.
  void stop_growing(int error) {
    file.grows = false;
    note_error(error);
    pool.chunks.cause.store(cause_of(error), std::memory_order_relaxed);
  }
  // Nor lanes: there is nobody to make them.
  void stop_providing(int error) {
    stop_growing(error);
    pool.lanes.cause.store(cause_of(error), std::memory_order_relaxed);
    pool.slabs.cause.store(cause_of(error), std::memory_order_relaxed);
  }

  std::size_t missing_slabs() const {
    std::size_t ready = 0;
    for (const auto& place : pool.ready_slabs) {
      ready += place.load(std::memory_order_relaxed) != nullptr;
    }
    return kReadySlabs - ready;
  }

  // A thread takes a whole one.
  bool may_enlarge_slabs() const {
    return slab_bytes < kLargestSlab && 2 * slab_bytes * lanes_used() <= kMostSlabBytes;
  }

  // Chains the slots of a slab.
  Slot* make_slab(unsigned char* memory) const {
    auto* slots = reinterpret_cast<Slot*>(memory);
    for (std::size_t i = 0; i + 1 < slab_bytes / sizeof(Slot); ++i) {
      slots[i].next = &slots[i + 1];
    }
    return slots;
  }

  // Makes as many as possible, mapped at once like chunks.
  void fill_slabs(std::size_t wanted) {
    std::size_t missing = std::min<std::uint64_t>(wanted, budget_left() / slab_bytes);
    auto* memory =
        missing != 0 ? static_cast<unsigned char*>(map_memory(missing * slab_bytes)) : nullptr;
    if (memory == nullptr && missing > 1) {
      missing = 1;
      memory = static_cast<unsigned char*>(map_memory(slab_bytes));
    }
    if (memory == nullptr) {
      if (wanted != 0) {
        pool.slabs.cause.store(DropCause::no_memory, std::memory_order_relaxed);
      }
      return;
    }
    pool.slabs.cause.store(DropCause::helper_late, std::memory_order_relaxed);
    end_shortage(pool.slabs);
    slab_bytes_taken += missing * slab_bytes;
    for (auto& place : pool.ready_slabs) {
      if (missing != 0 && place.load(std::memory_order_relaxed) == nullptr) {
        place.store(make_slab(memory), std::memory_order_release);
        memory += slab_bytes;
        --missing;
      }
    }
  }

  void start_task() const {
    auto* task = pool.task.load(std::memory_order_relaxed);
    if (task == nullptr) {
      return;
    }
    task = pool.task.exchange(nullptr, std::memory_order_acquire);
    // No thread can be started now: the next poll tries again, unless another task came meanwhile.
    if (!spawn_thread(task)) {
      decltype(task) none = nullptr;
      pool.task.compare_exchange_strong(none, task, std::memory_order_acq_rel);
    }
  }

  // By the wall clock of the newest anchor. Without a helper there are no signs of life: their end
  // would say nothing.
  void give_sign_of_life(std::uint64_t now_ns) {
    if (now_ns - last_heartbeat < kHeartbeatNs) {
      return;
    }
    last_heartbeat = now_ns;
    const ProcessPage* page = file.page;
    const Anchor& newest = page->anchors[std::min<std::uint32_t>(page->anchor_count, kAnchors) - 1];
    __atomic_store_n(&file.page->heartbeat_realtime_ns, newest.realtime_ns, __ATOMIC_RELAXED);
    give_counters_sign_of_life(newest.realtime_ns);
  }

  void housekeeping() {
    const std::uint64_t t = monotonic_raw_ns();
    if (t - last_housekeeping >= kHousekeepingNs) {
      last_housekeeping = t;
      refresh_anchors(*file.page);
      give_sign_of_life(t);
      take_back_dead_lanes();
      date_shown_calls();
      if (file.grows && file.storage == Storage::mapped && log_is_removed()) {
        abandon_log();
        stop_growing(ENOENT);  // only counted from here on
      }
      end_with_last_thread();
    }
  }

  // A quarter of the time for which the ready chunks and slabs last at the present demand. If
  // little is taken, it polls rarely: the program may need this core, and a burst wakes the helper.
  std::uint64_t time_to_next_poll(std::uint64_t elapsed_ns, std::size_t chunks,
                                  std::size_t slabs) const {
    const auto lasts = [&](std::size_t ready, std::size_t taken) {
      return taken > 0 ? elapsed_ns * ready / taken : 4 * kIdlePollNs;
    };
    return std::clamp(std::min(lasts(ready_target, chunks), lasts(kReadySlabs, slabs)) / 4,
                      kHungryPollNs, kIdlePollNs);
  }

  // During a long sleep, a program that records at full speed would take more than is ready.
  std::uint32_t wake_below(std::uint64_t next_poll_ns) const {
    const std::size_t most = ready_target - ready_target / 4;
    return next_poll_ns < kIdlePollNs / 5 ? 0 : static_cast<std::uint32_t>(most);
  }

  // Threads that wait for each chunk wait long, and may be many: they are woken only if there is
  // one. Returns when to look again, in ns; 0: nobody waits.
  std::uint64_t wake_waiting() const {
    const bool first = pool.waiting.load(std::memory_order_acquire) != 0;
    const bool on = pool.waiting_on.load(std::memory_order_acquire) != 0;
    if (first || (on && pool.ready_chunks.load(std::memory_order_relaxed) != 0)) {
      futex_bump(pool.made);
    }
    return first || on ? kHungryPollNs : 0;
  }

  // One round; returns the time until the next, in ns.
  std::uint64_t poll() {
    const std::uint64_t start = monotonic_raw_ns();
    const std::uint64_t elapsed = start - last_poll;
    last_poll = start;
    const std::size_t chunks = missing_chunks(), slabs = missing_slabs();
    if (chunks > ready_target / 4 && ready_target < kMostReady) {
      ready_target = std::min(2 * ready_target, kMostReady);
      set_ready_target(ready_target);
    }
    if (slabs > kReadySlabs / 4 && may_enlarge_slabs()) {
      slab_bytes *= 2;
    }
    pack_retired();
    const DropCause shortage = fill_chunks(missing_chunks());
    fill_slabs(slabs);
    slab_bytes_taken += extend_counters(budget_left());
    start_task();
    serve_network_reading();
    housekeeping();
    pool.next_look_ns.store(start + kGoneNs, std::memory_order_relaxed);
    if (const std::uint64_t soon = wake_waiting(); soon != 0) {
      return soon;
    }
    return may_end_soon(shortage) ? time_to_next_poll(elapsed, chunks, slabs) : kIdlePollNs;
  }

  // After an error growing is not tried again soon; a full ring has chunks to pack.
  static bool may_end_soon(DropCause shortage) {
    return shortage == DropCause::helper_late || shortage == DropCause::packing_slow ||
           shortage == DropCause::storage_slow || shortage == DropCause::chunks_bound;
  }

  void finish() {
    refresh_anchors(*file.page);
    stop_packer();
  }
};

}  // namespace uctrace::log

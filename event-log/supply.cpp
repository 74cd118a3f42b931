#include "event-log/supply.hpp"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "event-log/drain.hpp"
#include "event-log/futex.hpp"
#include "event-log/output_log.hpp"
#include "event-log/process_identity.hpp"
#include "event-log/removed_log.hpp"
#include "event-log/thread.hpp"

namespace uctrace::log {

constinit Supply supply{};

namespace {

// Resident at most: 48 * 256 KiB ready, and for each thread the chunk it writes and the one before.
constexpr std::size_t kLargestChunk = 256 * 1024;
constexpr std::size_t kReadyAtStart = 8;  // chunks that the program waits for
constexpr std::size_t kFirstSlab = 64 * 1024;
constexpr std::size_t kLargestSlab = 512 * 1024;
constexpr std::uint64_t kHungryPollNs = 100'000;
constexpr std::uint64_t kBusyPollNs = 1'000'000;
constexpr std::uint64_t kIdlePollNs = 5'000'000;
constexpr std::uint32_t kBusyPolls = 100;  // polls without demand before it idles
constexpr std::uint64_t kHousekeepingNs = 100'000'000;
constexpr long kStartWaitNs = 2'000'000'000;
constexpr long kStopWaitNs = 2'000'000'000;

constexpr std::uint32_t kStartOk = 1, kStartFailed = 2, kStartGivenUp = 3;
constexpr std::uint32_t kStopAsked = 1, kStopped = 2;

// The helper's own state; lives on its stack.
struct Helper {
  OutputLog file;
  std::size_t chunk_bytes = kMinChunkBytes;
  std::size_t slab_bytes = kFirstSlab;
  std::uint64_t budget = UINT64_MAX;  // for all memory together, in bytes
  std::uint64_t mapped_bytes = 0;     // chunks of a mapped log that are not unmapped
  std::uint64_t slab_bytes_taken = 0;
  std::uint32_t quiet_polls = 0;
  std::uint64_t last_poll = 0;
  std::uint64_t last_housekeeping = 0;
  void* awaiting_unmap[kRetiredChunks] = {};  // retired at the last poll: unmapped at the next

  // False: what the recorder may take is taken; errno says by whom it is limited, 0 = by what is
  // not drained yet.
  bool has_room(std::size_t bytes) const {
    const bool drained = file.storage == Storage::drained;
    if (drained && !drain_has_room(bytes)) {
      return false;
    }
    errno = ENOMEM;
    return slab_bytes_taken + (drained ? drain_bytes() : mapped_bytes) + bytes <= budget;
  }

  ChunkHeader* make_chunk() {
    if (!has_room(chunk_bytes)) {
      return nullptr;
    }
    auto* chunk = static_cast<ChunkHeader*>(grow_output_log(file, chunk_bytes));
    mapped_bytes += chunk != nullptr ? chunk_bytes : 0;
    return chunk;
  }

  bool supply_chunk(std::atomic<ChunkHeader*>& place) {
    ChunkHeader* chunk = make_chunk();
    if (chunk == nullptr && chunk_bytes > kMinChunkBytes) {
      chunk_bytes = kMinChunkBytes;  // the last bit of a disk that is nearly full
      chunk = make_chunk();
    }
    if (chunk == nullptr) {
      if (file.page->write_errno == 0) {
        file.page->write_errno = static_cast<std::uint32_t>(errno);
      }
      return false;
    }
    chunk->bytes = static_cast<std::uint32_t>(chunk_bytes);
    chunk->anchor = take_anchor();
    chunk->magic = kChunkMagic;
    chunk->file_end = file.bytes;
    file.page->allocated_bytes = file.bytes;
    if (file.storage == Storage::drained) {
      drain_add(chunk);
    }
    place.store(chunk, std::memory_order_release);
    return true;
  }

  std::size_t missing_chunks() const {
    if (!file.grows) {
      return 0;
    }
    std::size_t ready = 0;
    for (const auto& place : supply.ready_chunks) {
      ready += place.load(std::memory_order_relaxed) != nullptr;
    }
    return kReadyChunks - ready;
  }

  // Fills up to `missing` empty places, in the order in which they will be taken. False: the file
  // cannot grow now.
  bool fill_chunks(std::size_t missing) {
    const std::uint32_t first = supply.next_chunk.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < kReadyChunks && missing > 0; ++i) {
      auto& place = supply.ready_chunks[(first + i) % kReadyChunks];
      if (place.load(std::memory_order_relaxed) != nullptr) {
        continue;
      }
      if (!supply_chunk(place)) {
        return false;
      }
      --missing;
    }
    return true;
  }

  std::size_t fill_slabs() {
    std::size_t missing = 0;
    for (auto& place : supply.ready_slabs) {
      if (place.load(std::memory_order_relaxed) != nullptr) {
        continue;
      }
      ++missing;
      auto* slots = has_room(slab_bytes) ? static_cast<Slot*>(map_memory(slab_bytes)) : nullptr;
      if (slots == nullptr) {
        break;
      }
      slab_bytes_taken += slab_bytes;
      for (std::size_t i = 0; i + 1 < slab_bytes / sizeof(Slot); ++i) {
        slots[i].next = &slots[i + 1];
      }
      place.store(slots, std::memory_order_release);
    }
    return missing;
  }

  void give_up_chunk(ChunkHeader* chunk) {
    if (file.storage == Storage::drained) {
      drain_retire(chunk);
    } else {
      mapped_bytes -= chunk->bytes;
      unmap_memory(chunk, chunk->bytes);
    }
  }

  void unmap_retired() {
    for (std::size_t i = 0; i < kRetiredChunks; ++i) {
      if (awaiting_unmap[i] != nullptr) {
        give_up_chunk(static_cast<ChunkHeader*>(awaiting_unmap[i]));
      }
      awaiting_unmap[i] = supply.retired[i].exchange(nullptr, std::memory_order_acquire);
    }
  }

  void take_back_dead_lanes() {
    ProcessPage* page = file.page;
    const std::uint32_t used = __atomic_load_n(&page->lanes_used, __ATOMIC_ACQUIRE);
    for (std::size_t i = 0; i < used && i < kMaxLanes; ++i) {
      LaneInfo* info = lane_info(page, i);
      if (__atomic_load_n(&info->state, __ATOMIC_ACQUIRE) == 1 && info->tid != 0 &&
          syscall(SYS_tgkill, getpid(), info->tid, 0) != 0 && errno == ESRCH) {
        info->tid = 0;
        __atomic_store_n(&info->state, 2, __ATOMIC_RELEASE);
      }
    }
  }

  // Anchors fill up once, spread over the first second; after that the last one follows the clock.
  void refresh_anchors() {
    ProcessPage* page = file.page;
    const std::uint32_t n = page->anchor_count;
    page->anchors[n < kAnchors ? n : kAnchors - 1] = take_anchor();
    if (n < kAnchors) {
      __atomic_store_n(&page->anchor_count, n + 1, __ATOMIC_RELEASE);
    }
  }

  void housekeeping() {
    const std::uint64_t t = monotonic_raw_ns();
    if (t - last_housekeeping >= kHousekeepingNs) {
      last_housekeeping = t;
      refresh_anchors();
      take_back_dead_lanes();
      if (file.grows && file.storage == Storage::mapped && is_removed(file)) {
        file.page->write_errno = ENOENT;
        file.grows = false;  // and counted from here on
      }
    }
  }

  // A quarter of the time for which what is ready lasts if the demand stays as it was.
  std::uint64_t time_to_next_poll(std::uint64_t elapsed_ns, std::size_t chunks) const {
    if (quiet_polls >= kBusyPolls) {
      return kIdlePollNs;
    }
    const std::uint64_t lasts = chunks > 0 ? elapsed_ns * kReadyChunks / chunks : 4 * kBusyPollNs;
    return std::clamp(lasts / 4, kHungryPollNs, kBusyPollNs);
  }

  // One round; returns the time until the next, in ns.
  std::uint64_t poll() {
    const std::uint64_t start = monotonic_raw_ns();
    const std::uint64_t elapsed = start - last_poll;
    last_poll = start;
    const std::size_t chunks = missing_chunks();
    if (chunks > kReadyChunks / 4 && chunk_bytes < kLargestChunk) {
      chunk_bytes *= 2;  // before it is filled: who is fast needs it now
    }
    if (file.storage == Storage::drained && !has_drain_thread()) {
      drain_turn();
    }
    const bool grew = fill_chunks(chunks);
    const std::size_t slabs = fill_slabs();
    if (slabs > 1 && slab_bytes < kLargestSlab) {
      slab_bytes *= 2;
    }
    unmap_retired();
    housekeeping();
    quiet_polls = chunks + slabs > 0 ? 0 : quiet_polls + 1;
    return grew ? time_to_next_poll(elapsed, chunks) : kIdlePollNs;
  }

  // Takes every unused chunk back and cuts those off that lie at the end of the file. One that a
  // thread took in the meantime stays, and with it all that lies before it.
  void finish() {
    ChunkHeader* unused[kReadyChunks];
    for (std::size_t i = 0; i < kReadyChunks; ++i) {
      unused[i] = supply.ready_chunks[i].exchange(nullptr, std::memory_order_acquire);
    }
    refresh_anchors();
    if (file.storage == Storage::mapped) {
      end_mapped_log(unused);
    }
  }

  void end_mapped_log(ChunkHeader* const (&unused)[kReadyChunks]) {
    std::uint64_t end = file.bytes;
    for (std::size_t i = 0; i < kReadyChunks; ++i) {
      if (unused[i] != nullptr && unused[i]->file_end == end) {
        end -= unused[i]->bytes;
        i = SIZE_MAX;  // the one before it may be anywhere
      }
    }
    trim_output_log(file, end);
    if (is_removed(file)) {
      static constinit Losses losses{};
      keep_counters_of_removed(file, losses);
    }
    release_output_log(file);
  }
};

// Gives the helper a table of open files of its own, an empty one, where the system has the call
// (Linux 5.9): the program cannot close the log by closing all files, or see it among its own.
void leave_open_files() {
#ifdef SYS_close_range
  constexpr unsigned kUnshare = 2;  // CLOSE_RANGE_UNSHARE
  syscall(SYS_close_range, 0u, ~0u, kUnshare);
#endif
}

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
  if (helper.file.storage == Storage::drained && !start_drain(helper.file)) {
    helper.file.grows = false;
    helper.file.page->write_errno = ENOMEM;
  }
  supply.page = helper.file.page;
  helper.last_poll = monotonic_raw_ns();
  helper.fill_chunks(std::min(kReadyAtStart, helper.missing_chunks()));
  helper.fill_slabs();
  std::uint32_t waiting = 0;
  if (!supply.ready.compare_exchange_strong(waiting, kStartOk, std::memory_order_acq_rel)) {
    unlink(helper.file.path);  // nobody waits any more: the file system took too long
    return nullptr;
  }
  futex_wake(supply.ready);
  helper.fill_chunks(helper.missing_chunks());

  for (;;) {
    const std::uint32_t seen = supply.wanted.load(std::memory_order_acquire);
    if (supply.stop.load(std::memory_order_acquire) != 0) {
      break;
    }
    futex_wait(supply.wanted, seen, static_cast<long>(helper.poll()));
  }
  helper.finish();
  futex_set(supply.stop, kStopped);
  return nullptr;
}

}  // namespace

LaneInfo* lane_info(ProcessPage* page, std::size_t index) {
  return reinterpret_cast<LaneInfo*>(reinterpret_cast<char*>(page) + kLanesOffset) + index;
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
  forget_drain();
  supply.lanes = lanes;
  const int reason = spawn_thread(helper_main) ? wait_for_helper() : EAGAIN;
  supply.has_helper = reason == 0;
  const bool ok = reason == 0 || start_counting(reason);
  errno = saved_errno;
  return ok;
}

void wake_supply() {
  supply.wanted.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &supply.wanted, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
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
  if (supply.page->storage == Storage::drained) {
    finish_drain();
  } else {
    __atomic_store_n(&supply.page->closed, 1, __ATOMIC_RELEASE);
  }
  errno = saved_errno;
}

// In the order of the file, so that what is left unused lies at its end and can be cut off.
ChunkHeader* take_chunk() {
  const std::uint32_t first = supply.next_chunk.load(std::memory_order_relaxed);
  for (std::uint32_t i = first; i != first + kReadyChunks; ++i) {
    auto& place = supply.ready_chunks[i % kReadyChunks];
    if (place.load(std::memory_order_relaxed) == nullptr) {
      continue;
    }
    ChunkHeader* chunk = place.exchange(nullptr, std::memory_order_acq_rel);
    if (chunk != nullptr) {
      supply.next_chunk.store(i + 1, std::memory_order_relaxed);
      return chunk;
    }
  }
  return nullptr;
}

void retire_chunk(void* chunk) {
  for (auto& place : supply.retired) {
    void* expected = nullptr;
    if (place.compare_exchange_strong(expected, chunk, std::memory_order_release,
                                      std::memory_order_relaxed)) {
      return;
    }
  }
  // No place: the chunk stays mapped until the process ends. Nothing is lost.
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

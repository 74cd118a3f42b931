#include "event-log/supply.hpp"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "event-log/output_log.hpp"

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
constexpr std::size_t kHelperStack = 256 * 1024;
constexpr long kStartWaitNs = 2'000'000'000;
constexpr long kStopWaitNs = 200'000'000;

constexpr std::uint32_t kStartOk = 1, kStartFailed = 2;
constexpr std::uint32_t kStopAsked = 1, kStopped = 2;

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t while_value, long timeout_ns) {
  timespec timeout{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, while_value, &timeout, nullptr, 0);
}

void futex_wake(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  word.store(value, std::memory_order_release);
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

// The helper's own state; lives on its stack.
struct Helper {
  OutputLog file;
  std::size_t chunk_bytes = kMinChunkBytes;
  std::size_t slab_bytes = kFirstSlab;
  std::uint32_t quiet_polls = 0;
  std::uint64_t last_poll = 0;
  std::uint64_t last_housekeeping = 0;
  void* awaiting_unmap[kRetiredChunks] = {};  // retired at the last poll: unmapped at the next

  bool supply_chunk(std::atomic<ChunkHeader*>& place) {
    auto* chunk = static_cast<ChunkHeader*>(grow_output_log(file, chunk_bytes));
    if (chunk == nullptr && chunk_bytes > kMinChunkBytes) {
      chunk_bytes = kMinChunkBytes;  // the last bit of a disk that is nearly full
      chunk = static_cast<ChunkHeader*>(grow_output_log(file, chunk_bytes));
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
    // Where it ends in the file, for trimming: reserved1 is the writer's own.
    chunk->reserved1[0] = file.bytes;
    file.page->allocated_bytes = file.bytes;
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
      auto* slots = static_cast<Slot*>(map_slab(slab_bytes));
      if (slots == nullptr) {
        break;
      }
      for (std::size_t i = 0; i + 1 < slab_bytes / sizeof(Slot); ++i) {
        slots[i].next = &slots[i + 1];
      }
      place.store(slots, std::memory_order_release);
    }
    return missing;
  }

  void unmap_retired() {
    for (std::size_t i = 0; i < kRetiredChunks; ++i) {
      if (awaiting_unmap[i] != nullptr) {
        unmap_chunk(awaiting_unmap[i]);
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
    std::uint64_t end = file.bytes;
    for (std::size_t i = 0; i < kReadyChunks; ++i) {
      if (unused[i] != nullptr && unused[i]->reserved1[0] == end) {
        end -= unused[i]->bytes;
        i = SIZE_MAX;  // the one before it may be anywhere
      }
    }
    trim_output_log(file, end);
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
  helper.file = create_output_log();
  if (helper.file.fd < 0) {
    futex_wake(supply.ready, kStartFailed);
    return nullptr;
  }
  supply.page = helper.file.page;
  helper.last_poll = monotonic_raw_ns();
  helper.fill_chunks(std::min(kReadyAtStart, helper.missing_chunks()));
  helper.fill_slabs();
  futex_wake(supply.ready, kStartOk);
  helper.fill_chunks(helper.missing_chunks());

  for (;;) {
    const std::uint32_t seen = supply.wanted.load(std::memory_order_acquire);
    if (supply.stop.load(std::memory_order_acquire) != 0) {
      break;
    }
    futex_wait(supply.wanted, seen, static_cast<long>(helper.poll()));
  }
  helper.finish();
  futex_wake(supply.stop, kStopped);
  return nullptr;
}

bool create_helper(std::size_t stack_bytes) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack_bytes != 0) {
    pthread_attr_setstacksize(&attributes, stack_bytes);
  }
  pthread_t thread;
  const int failed = pthread_create(&thread, &attributes, helper_main, nullptr);
  pthread_attr_destroy(&attributes);
  return failed == 0;
}

bool spawn_helper() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // A program's thread-local variables lie on the stack too: where they are large, a small one is
  // refused.
  const bool created = create_helper(kHelperStack) || create_helper(0);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return created;
}

}  // namespace

LaneInfo* lane_info(ProcessPage* page, std::size_t index) {
  return reinterpret_cast<LaneInfo*>(reinterpret_cast<char*>(page) + kLanesOffset) + index;
}

bool start_supply(Lane* lanes) {
  const int saved_errno = errno;
  memset(static_cast<void*>(&supply), 0, sizeof supply);  // a fork child inherits its parent's
  supply.lanes = lanes;
  bool ok = spawn_helper();
  const std::uint64_t give_up = monotonic_raw_ns() + kStartWaitNs;
  while (ok && supply.ready.load(std::memory_order_acquire) == 0) {
    futex_wait(supply.ready, 0, kStartWaitNs / 10);
    ok = monotonic_raw_ns() < give_up;
  }
  ok = ok && supply.ready.load(std::memory_order_acquire) == kStartOk;
  if (!ok) {
    supply.stop.store(kStopAsked, std::memory_order_release);
  }
  errno = saved_errno;
  return ok;
}

void wake_supply() {
  supply.wanted.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &supply.wanted, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void stop_supply() {
  const int saved_errno = errno;
  supply.stop.store(kStopAsked, std::memory_order_release);
  wake_supply();
  const std::uint64_t give_up = monotonic_raw_ns() + kStopWaitNs;
  while (supply.stop.load(std::memory_order_acquire) != kStopped && monotonic_raw_ns() < give_up) {
    futex_wait(supply.stop, kStopAsked, kStopWaitNs / 10);
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

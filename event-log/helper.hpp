// The work of the helper thread: a poll makes what was taken anew, unmaps what was retired, and
// keeps the process page. Private to supply.cpp.
#pragma once

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "event-log/drain.hpp"
#include "event-log/output_log.hpp"
#include "event-log/process_identity.hpp"
#include "event-log/removed_log.hpp"
#include "event-log/supply.hpp"
#include "event-log/ticks.hpp"

namespace uctrace::log {

// Resident at most: 48 * 256 KiB ready, and for each thread the chunk it writes and the one before.
inline constexpr std::size_t kLargestChunk = 256 * 1024;
inline constexpr std::size_t kFirstSlab = 64 * 1024;
inline constexpr std::size_t kLargestSlab = 512 * 1024;
inline constexpr std::uint64_t kHungryPollNs = 100'000;
inline constexpr std::uint64_t kBusyPollNs = 1'000'000;
inline constexpr std::uint64_t kIdlePollNs = 5'000'000;
inline constexpr std::uint32_t kBusyPolls = 100;  // polls without demand before it idles
inline constexpr std::uint64_t kHousekeepingNs = 100'000'000;

// What the helper thread knows and does; lives on its stack.
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

  // What the recorder may take is a part of what the program may take.
  bool within_budget(std::size_t bytes) const {
    errno = ENOMEM;
    const std::uint64_t chunks = file.storage == Storage::drained ? drain_bytes() : mapped_bytes;
    return slab_bytes_taken + chunks + bytes <= budget;
  }

  ChunkHeader* make_chunk() {
    if (!within_budget(chunk_bytes) ||
        (file.storage == Storage::drained && !drain_has_room(chunk_bytes))) {
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

  std::size_t missing_slabs() const {
    std::size_t ready = 0;
    for (const auto& place : supply.ready_slabs) {
      ready += place.load(std::memory_order_relaxed) != nullptr;
    }
    return kReadySlabs - ready;
  }

  void fill_slabs(std::size_t missing) {
    for (auto& place : supply.ready_slabs) {
      if (missing == 0) {
        break;
      }
      if (place.load(std::memory_order_relaxed) != nullptr) {
        continue;
      }
      --missing;
      auto* slots =
          within_budget(slab_bytes) ? static_cast<Slot*>(map_memory(slab_bytes)) : nullptr;
      if (slots == nullptr) {
        break;
      }
      slab_bytes_taken += slab_bytes;
      for (std::size_t i = 0; i + 1 < slab_bytes / sizeof(Slot); ++i) {
        slots[i].next = &slots[i + 1];
      }
      place.store(slots, std::memory_order_release);
    }
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
  std::uint64_t time_to_next_poll(std::uint64_t elapsed_ns, std::size_t chunks,
                                  std::size_t slabs) const {
    if (quiet_polls >= kBusyPolls) {
      return kIdlePollNs;
    }
    const auto lasts = [&](std::size_t ready, std::size_t taken) {
      return taken > 0 ? elapsed_ns * ready / taken : 4 * kBusyPollNs;
    };
    return std::clamp(std::min(lasts(kReadyChunks, chunks), lasts(kReadySlabs, slabs)) / 4,
                      kHungryPollNs, kBusyPollNs);
  }

  // One round; returns the time until the next, in ns.
  std::uint64_t poll() {
    const std::uint64_t start = monotonic_raw_ns();
    const std::uint64_t elapsed = start - last_poll;
    last_poll = start;
    const std::size_t chunks = missing_chunks(), slabs = missing_slabs();
    if (chunks > kReadyChunks / 4 && chunk_bytes < kLargestChunk) {
      chunk_bytes *= 2;  // before it is filled: who is fast needs it now
    }
    if (file.storage == Storage::drained && !has_drain_thread()) {
      drain_turn();
    }
    if (slabs > kReadySlabs / 4 && slab_bytes < kLargestSlab) {
      slab_bytes *= 2;
    }
    const bool grew = fill_chunks(chunks);
    fill_slabs(slabs);
    unmap_retired();
    housekeeping();
    quiet_polls = chunks + slabs > 0 ? 0 : quiet_polls + 1;
    return grew ? time_to_next_poll(elapsed, chunks, slabs) : kIdlePollNs;
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

}  // namespace uctrace::log

#include "event-log/drain.hpp"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "event-log/file_systems.hpp"
#include "event-log/futex.hpp"
#include "event-log/record_walk.hpp"
#include "event-log/removed_log.hpp"
#include "event-log/thread.hpp"
#include "event-log/ticks.hpp"

namespace uctrace::log {
namespace {

constexpr std::size_t kPlaces = kMostUndrained / kMinChunkBytes;
constexpr long kRetryNs = 50'000'000;
constexpr std::uint32_t kRunning = 0, kStopAsked = 1, kStopped = 2;

// A chunk on its way to the file. The helper fills an empty place, the drain empties it.
struct Place {
  std::atomic<ChunkHeader*> chunk;
  std::atomic<bool> retired;
  std::uint64_t offset;   // in the file
  std::uint64_t written;  // bytes of it that are in the file: whole records
};

struct Drain {
  OutputLog file;
  bool threaded;
  std::atomic<std::uint64_t> waiting_bytes;  // of all chunks that were made and not given back
  std::atomic<int> error;                    // of the last write; 0 = it went well
  bool removed;
  std::atomic<std::uint32_t> work;      // futex: moves on when a chunk was retired
  std::atomic<std::uint32_t> state;     // futex
  std::atomic<std::uint64_t> progress;  // moves on with every write that succeeded
  std::uint64_t file_bytes;             // as the file system knows it
  std::uint64_t last_turn;
  Place places[kPlaces];
  Losses losses;
  alignas(8) unsigned char page[kProcessPageBytes];     // as it goes to the file
  alignas(8) unsigned char written[kProcessPageBytes];  // as it is there
};

// In memory of its own: a log that is mapped pays nothing for it.
Drain* drain = nullptr;

void note_error(int error) {
  drain->error.store(error, std::memory_order_relaxed);
  ProcessPage* page = drain->file.page;
  if (error != 0 && page->write_errno == 0) {
    page->write_errno = static_cast<std::uint32_t>(error);
  }
}

bool put(const void* data, std::size_t bytes, std::uint64_t offset, std::size_t& done) {
  done = write_at(drain->file.fd, data, bytes, offset);
  if (done < bytes) {
    note_error(errno);
    return false;
  }
  drain->error.store(0, std::memory_order_relaxed);
  drain->progress.fetch_add(1, std::memory_order_release);
  return true;
}

// The file reaches to the end of the chunk: what is not written of it reads as zeros.
bool extend_to(std::uint64_t end) {
  if (end <= drain->file_bytes) {
    return true;
  }
  if (ftruncate(drain->file.fd, static_cast<off_t>(end)) != 0) {
    note_error(errno);
    return false;
  }
  drain->file_bytes = end;
  return true;
}

// Writes what was published since the last time. After a write that was cut short the file ends
// with a whole record, as far as it can be told.
bool write_records(Place& place, const ChunkHeader* chunk) {
  const std::uint64_t from = place.written;
  const std::uint64_t first = from == 0 ? sizeof(ChunkHeader) : from;
  const std::uint64_t to = walk_records(chunk, first, chunk->bytes, [](RecordType) {});
  if (to == from) {
    return true;
  }
  if (!extend_to(place.offset + chunk->bytes)) {
    return false;
  }
  std::size_t done;
  const auto* base = reinterpret_cast<const unsigned char*>(chunk);
  const bool all = put(base + from, to - from, place.offset + from, done);
  if (all) {
    place.written = to;
  } else if (from + done >= sizeof(ChunkHeader)) {
    const std::uint64_t whole = walk_records(chunk, first, from + done, [](RecordType) {});
    constexpr std::uint64_t kNone = 0;
    if (whole < from + done) {
      write_at(drain->file.fd, &kNone, sizeof kNone, place.offset + whole);
    }
    place.written = whole;
  }
  return all;
}

void give_back(Place& place, ChunkHeader* chunk) {
  const std::uint32_t bytes = chunk->bytes;
  place.chunk.store(nullptr, std::memory_order_release);
  unmap_memory(chunk, bytes);
  drain->waiting_bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

// One look at every chunk, or only at those that are complete. False: the file takes no more now.
bool write_chunks(bool retired_only) {
  for (Place& place : drain->places) {
    ChunkHeader* chunk = place.chunk.load(std::memory_order_acquire);
    if (chunk == nullptr || __atomic_load_n(&chunk->sequence, __ATOMIC_ACQUIRE) == 0) {
      continue;
    }
    const bool retired = place.retired.load(std::memory_order_acquire);
    if (retired_only && !retired) {
      continue;
    }
    if (!write_records(place, chunk)) {
      return false;
    }
    if (retired) {
      give_back(place, chunk);
    }
  }
  return true;
}

// The page as it is now, with whole words: other threads count in it meanwhile.
void copy_page() {
  const auto* from = reinterpret_cast<const std::uint64_t*>(drain->file.page);
  auto* to = reinterpret_cast<std::uint64_t*>(drain->page);
  for (std::size_t i = 0; i < kProcessPageBytes / sizeof *to; ++i) {
    to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
  }
}

ProcessPage* copied_page() { return reinterpret_cast<ProcessPage*>(drain->page); }

// Only if it says anything new: a rank that waits must not write to a shared file system. The clock
// alone is nothing new.
bool write_copied_page() {
  auto* last = reinterpret_cast<ProcessPage*>(drain->written);
  ProcessPage* page = copied_page();
  page->allocated_bytes = drain->file_bytes;
  memcpy(last->anchors, page->anchors, sizeof last->anchors);
  last->anchor_count = page->anchor_count;
  if (memcmp(last, page, kProcessPageBytes) == 0) {
    return true;
  }
  std::size_t done;
  if (!put(page, kProcessPageBytes, 0, done)) {
    return false;
  }
  memcpy(last, page, kProcessPageBytes);
  return true;
}

void write_all_now() {
  if (is_removed(drain->file)) {
    drain->removed = true;
    note_error(ENOENT);
    return;
  }
  copy_page();
  if (write_chunks(false)) {
    write_copied_page();
  }
}

// Counts what is in no file as lost. Nothing is given back: a thread may still hold it.
void count_losses() {
  for (Place& place : drain->places) {
    const ChunkHeader* chunk = place.chunk.load(std::memory_order_acquire);
    if (chunk == nullptr || chunk->sequence == 0) {
      continue;
    }
    const std::uint64_t from = place.written == 0 ? sizeof(ChunkHeader) : place.written;
    walk_records(chunk, from, chunk->bytes,
                 [&](RecordType type) { drain->losses.count(chunk->lane, type); });
  }
}

// The last page, with what could not be written counted. A file system that copies on write may
// have no room even for that: then the counters go elsewhere, and the log stays open.
void close_log() {
  copy_page();
  ProcessPage* page = copied_page();
  if (!write_chunks(false)) {
    count_losses();
    page->write_errno = drain->file.page->write_errno;
    subtract_losses(reinterpret_cast<LaneInfo*>(reinterpret_cast<char*>(page) + kLanesOffset),
                    drain->losses);
  }
  page->closed = 1;
  if (!write_copied_page()) {
    keep_counters(drain->file, drain->losses, static_cast<int>(drain->file.page->write_errno));
  } else if (file_system_of(page->file_system).remote && fdatasync(drain->file.fd) != 0) {
    page->write_errno = static_cast<std::uint32_t>(errno);
    write_copied_page();
  }
}

void stop_drain() {
  if (drain->removed || is_removed(drain->file)) {
    count_losses();
    drain->file.bytes = drain->file_bytes;
    keep_counters_of_removed(drain->file, drain->losses);
  } else {
    close_log();
  }
  futex_set(drain->state, kStopped);
}

void* drain_main(void*) {
  while (drain->state.load(std::memory_order_acquire) == kRunning) {
    const std::uint32_t seen = drain->work.load(std::memory_order_acquire);
    drain_turn();
    if (drain->state.load(std::memory_order_acquire) == kRunning) {
      const bool failing = drain->error.load(std::memory_order_relaxed) != 0;
      futex_wait(drain->work, failing ? drain->work.load(std::memory_order_acquire) : seen,
                 failing ? kRetryNs : kDrainIntervalNs);
    }
  }
  stop_drain();
  return nullptr;
}

}  // namespace

void forget_drain() { drain = nullptr; }

bool start_drain(const OutputLog& file) {
  drain = static_cast<Drain*>(map_memory(sizeof(Drain)));
  if (drain == nullptr) {
    return false;
  }
  drain->file = file;
  drain->file_bytes = kProcessPageBytes;
  memcpy(drain->written, file.page, kProcessPageBytes);
  drain->threaded = spawn_thread(drain_main);
  return true;
}

bool has_drain_thread() { return drain != nullptr && drain->threaded; }

void drain_turn() {
  if (drain->removed) {
    return;
  }
  const std::uint64_t t = monotonic_raw_ns();
  if (t - drain->last_turn >= static_cast<std::uint64_t>(kDrainIntervalNs)) {
    drain->last_turn = t;
    write_all_now();
  } else {
    write_chunks(true);
  }
}

bool drain_has_room(std::size_t bytes) {
  errno = drain == nullptr ? ENOMEM : drain->error.load(std::memory_order_relaxed);
  return errno == 0 && drain_bytes() + bytes <= kMostUndrained;
}

std::uint64_t drain_bytes() {
  return drain == nullptr ? 0 : drain->waiting_bytes.load(std::memory_order_relaxed);
}

void drain_add(ChunkHeader* chunk) {
  for (Place& place : drain->places) {
    if (place.chunk.load(std::memory_order_acquire) == nullptr) {
      drain->waiting_bytes.fetch_add(chunk->bytes, std::memory_order_relaxed);
      place.offset = chunk->file_end - chunk->bytes;
      place.written = 0;
      place.retired.store(false, std::memory_order_relaxed);
      place.chunk.store(chunk, std::memory_order_release);
      return;
    }
  }
}

void drain_retire(void* chunk) {
  for (Place& place : drain->places) {
    if (place.chunk.load(std::memory_order_relaxed) == chunk) {
      place.retired.store(true, std::memory_order_release);
      futex_bump(drain->work);
      return;
    }
  }
}

void finish_drain() {
  if (drain == nullptr) {
    return;
  }
  if (!drain->threaded) {
    stop_drain();
    return;
  }
  drain->state.store(kStopAsked, std::memory_order_release);
  futex_bump(drain->work);
  std::uint64_t seen = drain->progress.load(std::memory_order_acquire);
  while (drain->state.load(std::memory_order_acquire) != kStopped) {
    futex_wait(drain->state, kStopAsked, kDrainStallNs);
    const std::uint64_t progress = drain->progress.load(std::memory_order_acquire);
    if (progress == seen) {
      break;
    }
    seen = progress;
  }
}

}  // namespace uctrace::log

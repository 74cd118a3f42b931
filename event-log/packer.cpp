#include "event-log/packer.hpp"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "event-log/block_file.hpp"
#include "event-log/file_systems.hpp"
#include "event-log/futex.hpp"
#include "event-log/process_identity.hpp"
#include "event-log/removed_log.hpp"
#include "event-log/supply.hpp"
#include "event-log/thread.hpp"
#include "event-log/ticks.hpp"

namespace uctrace::log {
namespace {

constexpr long kRetryNs = 50'000'000;
constexpr std::uint32_t kRunning = 0, kStopAsked = 1, kStopped = 2;

struct Packer {
  OutputLog file;
  bool threaded;
  bool removed;
  std::atomic<int> error;               // of the last write; 0 = it went well
  std::atomic<std::uint32_t> work;      // futex: moves on when a chunk was retired
  std::atomic<std::uint32_t> state;     // futex
  std::atomic<std::uint64_t> progress;  // moves on with every write that succeeded
  std::atomic<std::size_t> ready_target;
  std::uint64_t seen_retirements;  // the helper's
  std::uint64_t last_turn;
  BlockFile blocks;
  BlockEncoder encoder;
  Losses losses;
  Place* order[kPlaces];
  alignas(8) unsigned char page[kProcessPageBytes];     // as it goes to the file
  alignas(8) unsigned char written[kProcessPageBytes];  // as it is there, of a drained log
  std::uint64_t block[kMostBlockBytes / 8];
};

Packer* packer = nullptr;

bool is_mapped() { return packer->file.storage == Storage::mapped; }

void note_error(int error) {
  packer->error.store(error, std::memory_order_relaxed);
  ProcessPage* page = packer->file.page;
  if (error != 0 && page->write_errno == 0) {
    page->write_errno = static_cast<std::uint32_t>(error);
  }
}

bool written(bool ok) {
  if (!ok) {
    note_error(errno);
    return false;
  }
  packer->error.store(0, std::memory_order_relaxed);
  packer->progress.fetch_add(1, std::memory_order_release);
  return true;
}

// --- chunks --------------------------------------------------------------------------------------

// Adds records of the chunk from `at` on to the block until it is full or they end. Returns where.
std::uint32_t fill_block(const ChunkHeader* chunk, std::uint32_t at) {
  const auto* base = reinterpret_cast<const unsigned char*>(chunk);
  while (at + sizeof(Head) <= chunk->bytes) {
    const auto* record = reinterpret_cast<const std::uint64_t*>(base + at);
    const std::uint64_t bytes =
        (__atomic_load_n(record, __ATOMIC_ACQUIRE) >> 8 & 0xff) * sizeof(std::uint64_t);
    if (bytes == 0 || at + bytes > chunk->bytes || !packer->encoder.add(record)) {
      break;
    }
    at += static_cast<std::uint32_t>(bytes);
  }
  return at;
}

std::uint32_t first_unpacked(const Place& place) {
  return place.packed == 0 ? sizeof(ChunkHeader) : place.packed;
}

bool write_block(std::uint8_t flags) {
  packer->encoder.end(flags);
  const auto* block = reinterpret_cast<const BlockHeader*>(packer->block);
  if (!written(packer->blocks.write(*block))) {
    return false;
  }
  if (is_mapped()) {
    __atomic_store_n(&packer->file.page->allocated_bytes, packer->blocks.end(), __ATOMIC_RELEASE);
  }
  return true;
}

// Packs what was published since the last time. False: the file takes no more now.
bool pack_chunk(Place& place) {
  const ChunkHeader* chunk = place.chunk;
  for (std::uint32_t from = first_unpacked(place);;) {
    packer->encoder.begin(*chunk, from, packer->block, packer->blocks.room(chunk->stream));
    const std::uint32_t to = fill_block(chunk, from);
    if (to == from) {
      return true;
    }
    if (!write_block(0)) {
      return false;
    }
    place.packed = from = to;
  }
}

// A record was begun behind the packed ones, and is not published (yet).
bool is_unfinished(const Place& place) {
  const auto* base = reinterpret_cast<const unsigned char*>(place.chunk);
  std::uint64_t any = 0;
  for (std::uint32_t at = first_unpacked(place); at + 8 <= place.chunk->bytes; at += 8) {
    any |= *reinterpret_cast<const std::uint64_t*>(base + at);
  }
  return any != 0;
}

// The chunk belongs to no thread from the moment on when it holds no sequence number: whoever reads
// it meanwhile sees that its records are in the log by now.
void recycle(Place& place) {
  ChunkHeader* chunk = place.chunk;
  __atomic_store_n(&chunk->sequence, 0, __ATOMIC_RELEASE);
  const bool surplus = !is_mapped() && supply.ready_chunks.load(std::memory_order_relaxed) >=
                                           packer->ready_target.load(std::memory_order_relaxed);
  if (surplus) {
    unmap_memory(chunk, chunk->bytes);
    place.chunk = nullptr;
    supply.ring_bytes.fetch_sub(kChunkBytes, std::memory_order_relaxed);
    place.state.store(PlaceState::none, std::memory_order_release);
    return;
  }
  const std::uint32_t used = first_unpacked(place);
  memset(reinterpret_cast<unsigned char*>(chunk) + sizeof *chunk, 0, used - sizeof *chunk);
  chunk->anchor = take_anchor();
  make_ready(place);
}

PlaceState state_of(const Place& place) { return place.state.load(std::memory_order_acquire); }

// The retired ones in the order in which they retired, then, if wanted, those that threads have.
std::size_t chunks_in_order(bool all) {
  const std::uint32_t used = supply.places_used.load(std::memory_order_acquire);
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < used; ++i) {
    if (state_of(supply.places[i]) == PlaceState::retired) {
      packer->order[count++] = &supply.places[i];
    }
  }
  std::sort(packer->order, packer->order + count,
            [](const Place* a, const Place* b) { return a->retired_as < b->retired_as; });
  for (std::uint32_t i = 0; all && i < used; ++i) {
    Place& place = supply.places[i];
    if (state_of(place) == PlaceState::taken &&
        __atomic_load_n(&place.chunk->sequence, __ATOMIC_ACQUIRE) != 0) {
      packer->order[count++] = &place;
    }
  }
  return count;
}

// False: the file takes no more now.
bool pack_chunks(bool all) {
  const std::size_t count = chunks_in_order(all);
  for (std::size_t i = 0; i < count; ++i) {
    Place& place = *packer->order[i];
    const bool retired = state_of(place) == PlaceState::retired;
    if (!pack_chunk(place)) {
      return false;
    }
    if (retired && !is_unfinished(place)) {
      recycle(place);
    }
  }
  return true;
}

// --- the page of a drained log -------------------------------------------------------------------

// The page as it is now, with whole words: other threads count in it meanwhile.
void copy_page() {
  const auto* from = reinterpret_cast<const std::uint64_t*>(packer->file.page);
  auto* to = reinterpret_cast<std::uint64_t*>(packer->page);
  for (std::size_t i = 0; i < kProcessPageBytes / sizeof *to; ++i) {
    to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
  }
}

ProcessPage* copied_page() { return reinterpret_cast<ProcessPage*>(packer->page); }
LaneInfo* copied_lanes() { return reinterpret_cast<LaneInfo*>(packer->page + kLanesOffset); }

// What was overwritten since the page was copied.
void update_overwritten() {
  const LaneInfo* now = lane_info(packer->file.page, 0);
  for (std::size_t i = 0; i < kMaxLanes; ++i) {
    LaneCounters& counters = copied_lanes()[i].counters;
    memcpy(counters.overwritten, now[i].counters.overwritten, sizeof counters.overwritten);
    counters.overwritten_until_tick = now[i].counters.overwritten_until_tick;
  }
}

bool write_copied_page() {
  ProcessPage* page = copied_page();
  page->allocated_bytes = packer->blocks.end();
  update_overwritten();
  return written(write_at(packer->file.fd, page, kProcessPageBytes, 0) == kProcessPageBytes);
}

// Only if it says anything new: a rank that waits must not write to a shared file system. The clock
// alone is nothing new.
void write_changed_page() {
  auto* last = reinterpret_cast<ProcessPage*>(packer->written);
  ProcessPage* page = copied_page();
  page->allocated_bytes = packer->blocks.end();
  memcpy(last->anchors, page->anchors, sizeof last->anchors);
  last->anchor_count = page->anchor_count;
  if (memcmp(last, page, kProcessPageBytes) != 0 && write_copied_page()) {
    memcpy(last, page, kProcessPageBytes);
  }
}

void write_all_now() {
  if (is_removed(packer->file)) {
    abandon_log();
    return;
  }
  copy_page();
  if (pack_chunks(true)) {
    write_changed_page();
  }
}

void pack_turn() {
  if (packer->removed) {
    return;
  }
  const std::uint64_t t = monotonic_raw_ns();
  if (!is_mapped() && t - packer->last_turn >= static_cast<std::uint64_t>(kDrainIntervalNs)) {
    packer->last_turn = t;
    write_all_now();
  } else {
    pack_chunks(false);
  }
}

// --- the end -------------------------------------------------------------------------------------

// Counts what is in no file as lost. Nothing is given back: a thread may still hold it.
void count_losses() {
  const std::size_t count = chunks_in_order(true);
  for (std::size_t i = 0; i < count; ++i) {
    const Place& place = *packer->order[i];
    const ChunkHeader* chunk = place.chunk;
    walk_records(chunk, first_unpacked(place), chunk->bytes, [&](RecordType type) {
      packer->losses.count(chunk->lane, drop_kind_of(type), 1);
    });
  }
}

// Packs everything, and says where a thread was within a record.
bool pack_all() {
  if (!pack_chunks(true)) {
    return false;
  }
  const std::size_t count = chunks_in_order(true);
  for (std::size_t i = 0; i < count; ++i) {
    const Place& place = *packer->order[i];
    if (is_unfinished(place)) {
      packer->encoder.begin(*place.chunk, first_unpacked(place), packer->block, kMostBlockBytes);
      if (!write_block(BlockHeader::kUnfinished)) {
        return false;
      }
    }
  }
  return true;
}

// Gives the room of chunks that no thread has back to the file system.
void release_ready_chunks() {
  const std::uint32_t used = supply.places_used.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < used; ++i) {
    PlaceState expected = PlaceState::ready;
    if (supply.places[i].state.compare_exchange_strong(expected, PlaceState::none,
                                                       std::memory_order_acq_rel)) {
      supply.ready_chunks.fetch_sub(1, std::memory_order_relaxed);
      punch_live_file(packer->file, live_offset(i), kChunkBytes);
    }
  }
}

// Packs everything on a full disk: each chunk makes room for the next ones, and the reserve for the
// first.
bool pack_all_in_reserve() {
  punch_live_file(packer->file, 0, kLiveReserve);
  for (;;) {
    const std::uint64_t before = packer->blocks.end();
    release_ready_chunks();
    if (pack_all()) {
      return true;
    }
    if (packer->blocks.end() == before) {
      return false;
    }
  }
}

// Of a mapped log. What cannot be packed stays in the file of chunks.
void close_mapped_log() {
  const OutputLog& file = packer->file;
  if (!freeze_page(file) || !read_at(file.fd, packer->page, kProcessPageBytes, 0)) {
    return;  // it stays open, and nothing is lost
  }
  const bool packed = pack_all() || pack_all_in_reserve();
  ProcessPage* page = copied_page();
  page->live_bytes = packed ? 0 : page->live_bytes;
  page->write_errno = file.page->write_errno;
  page->closed = 1;
  if (write_copied_page() && packed) {
    remove_live_file(file);
  }
  release_output_log(file);
}

// The last page, with what could not be written counted. A file system that copies on write may
// have no room even for that: then the counters go elsewhere, and the log stays open.
void close_drained_log() {
  copy_page();
  ProcessPage* page = copied_page();
  if (!pack_all()) {
    count_losses();
    page->write_errno = packer->file.page->write_errno;
    subtract_losses(copied_lanes(), packer->losses);
  }
  page->closed = 1;
  if (!write_copied_page()) {
    keep_counters(packer->file, packer->losses, static_cast<int>(packer->file.page->write_errno));
  } else if (file_system_of(page->file_system).remote && fdatasync(packer->file.fd) != 0) {
    page->write_errno = static_cast<std::uint32_t>(errno);
    write_copied_page();
  }
}

void close_log() {
  if (packer->removed || is_removed(packer->file)) {
    count_losses();
    keep_counters_of_removed(packer->file, packer->blocks.end(), packer->losses);
    remove_live_file(packer->file);
  } else if (is_mapped()) {
    close_mapped_log();
  } else {
    close_drained_log();
  }
  futex_set(packer->state, kStopped);
}

void* packer_main(void*) {
  while (packer->state.load(std::memory_order_acquire) == kRunning) {
    const std::uint32_t seen = packer->work.load(std::memory_order_acquire);
    pack_turn();
    if (packer->state.load(std::memory_order_acquire) == kRunning) {
      const bool failing = packer_error() != 0 && !packer->removed;
      futex_wait(packer->work, failing ? packer->work.load(std::memory_order_acquire) : seen,
                 failing ? kRetryNs : kDrainIntervalNs);
    }
  }
  close_log();
  return nullptr;
}

}  // namespace

void forget_packer() { packer = nullptr; }

bool start_packer(const OutputLog& file) {
  packer = static_cast<Packer*>(map_memory(sizeof(Packer)));
  if (packer == nullptr) {
    return false;
  }
  packer->file = file;
  packer->blocks.start(file.fd, lane_info(file.page, 0), file.page->max_event_bytes);
  memcpy(packer->written, file.page, kProcessPageBytes);
  packer->threaded = file.storage == Storage::drained && spawn_thread(packer_main);
  return true;
}

void pack_retired() {
  if (packer == nullptr) {
    return;
  }
  if (!packer->threaded) {
    pack_turn();
    return;
  }
  const std::uint64_t retirements = supply.retirements.load(std::memory_order_relaxed);
  if (retirements != packer->seen_retirements) {
    packer->seen_retirements = retirements;
    futex_bump(packer->work);
  }
}

void abandon_log() {
  packer->removed = true;
  note_error(ENOENT);
}

int packer_error() { return packer == nullptr ? 0 : packer->error.load(std::memory_order_relaxed); }

void set_ready_target(std::size_t chunks) {
  if (packer != nullptr) {
    packer->ready_target.store(chunks, std::memory_order_relaxed);
  }
}

void stop_packer() {
  if (packer != nullptr && !packer->threaded) {
    close_log();
  }
}

void wait_for_packer() {
  if (packer == nullptr) {
    return;
  }
  if (packer->threaded) {
    packer->state.store(kStopAsked, std::memory_order_release);
    futex_bump(packer->work);
  }
  std::uint64_t seen = packer->progress.load(std::memory_order_acquire);
  for (std::uint32_t state; (state = packer->state.load(std::memory_order_acquire)) != kStopped;) {
    futex_wait(packer->state, state, kDrainStallNs);
    const std::uint64_t progress = packer->progress.load(std::memory_order_acquire);
    if (progress == seen) {
      break;
    }
    seen = progress;
  }
}

}  // namespace uctrace::log

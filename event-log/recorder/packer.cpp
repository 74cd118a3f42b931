#include "event-log/recorder/packer.hpp"

#include <errno.h>
#include <string.h>

#include <algorithm>

#include "event-log/recorder/counter_store.hpp"
#include "event-log/recorder/end_wait.hpp"
#include "event-log/recorder/futex.hpp"
#include "event-log/recorder/lanes.hpp"
#include "event-log/recorder/packer_parts.hpp"
#include "event-log/recorder/pool.hpp"
#include "event-log/recorder/process_identity.hpp"
#include "event-log/recorder/record_walk.hpp"
#include "event-log/recorder/removed_log.hpp"
#include "event-log/recorder/store_order.hpp"
#include "event-log/recorder/thread.hpp"
#include "event-log/recorder/ticks.hpp"

namespace uctrace::log {

constinit Packer* packer = nullptr;

namespace {

constexpr long kRetryNs = 50'000'000;
// The first turns of a drained log come sooner one after the other: its page changes most then.
constexpr std::uint64_t kFirstTurnNs = 10'000'000;

void note_error(int error) {
  packer->error.store(error, std::memory_order_relaxed);
  ProcessPage* page = packer->file.page;
  if (error != 0 && page->write_errno == 0) {
    page->write_errno = static_cast<std::uint32_t>(error);
  }
}

// --- chunks --------------------------------------------------------------------------------------

// Adds records of the chunk from `at` on to the block until it is full or they end. Returns where.
std::uint32_t fill_block(const ChunkHeader* chunk, std::uint32_t at) {
  return walk_records(chunk, at,
                      [](const std::uint64_t* record) { return packer->encoder.add(record); });
}

// The packer alone adds; the helper looks, too.
void add(std::uint64_t& counter, std::uint64_t more) {
  __atomic_store_n(&counter, counter + more, __ATOMIC_RELAXED);
}

// What holds the packer up: the file system, or its own work and too little of a core.
void count_time(std::uint64_t begun, std::uint64_t packed) {
  ProcessPage* page = packer->file.page;
  add(page->packing_ns, packed - begun);
  add(page->writing_ns, monotonic_raw_ns() - packed);
}

bool write_full_block() {
  const StorageCall call;
  return write_block(0);
}

// Packs what was published since the last time. False: the file takes no more now.
bool pack_chunk(Place& place) {
  const ChunkHeader* chunk = place.chunk;
  for (std::uint32_t from = first_unpacked(place);;) {
    const std::uint64_t begun = monotonic_raw_ns();
    packer->encoder.begin(*chunk, from, packer->block, packer->blocks.room(chunk->stream));
    const std::uint32_t to = fill_block(chunk, from);
    if (to == from) {
      return true;
    }
    const std::uint64_t packed = monotonic_raw_ns();
    const bool ok = write_full_block();
    count_time(begun, packed);
    if (!ok) {
      return false;
    }
    place.packed = from = to;
  }
}

// The chunk belongs to no thread from the moment on when it holds no sequence number: whoever reads
// it meanwhile sees that its records are in the log by now.
void recycle(Place& place) {
  ChunkHeader* chunk = place.chunk;
  pool.recycled.fetch_add(1, std::memory_order_release);
  __atomic_store_n(&chunk->sequence, 0, __ATOMIC_RELEASE);
  // No reader may see the records go before the number: a release orders what is before it only.
  order_stores();
  const bool surplus =
      !packer->is_mapped() && pool.ready_chunks.load(std::memory_order_relaxed) >=
                                  packer->ready_target.load(std::memory_order_relaxed);
  if (surplus) {
    unmap_memory(chunk, chunk->bytes);
    place.chunk = nullptr;
    pool.ring_bytes.fetch_sub(kChunkBytes, std::memory_order_relaxed);
    place.state.store(PlaceState::none, std::memory_order_release);
    return;
  }
  const std::uint32_t used = first_unpacked(place);
  memset(reinterpret_cast<unsigned char*>(chunk) + sizeof *chunk, 0, used - sizeof *chunk);
  chunk->anchor = take_anchor();
  make_ready(place);
}

PlaceState state_of(const Place& place) { return place.state.load(std::memory_order_acquire); }

bool holds_records_of(const Place& place, Stream stream) {
  return __atomic_load_n(&place.chunk->sequence, __ATOMIC_ACQUIRE) != 0 &&
         place.chunk->stream == stream;
}

// Adds the chunks of a stream to packer->order, behind the `count` that are there. Each place is
// looked at once: a chunk that is retired meanwhile would else be in neither part. Returns how many
// these are now.
std::size_t add_chunks(Stream stream, bool taken_too, std::size_t count) {
  Place** const first = packer->order + count;
  const std::uint32_t used = pool.places_used.load(std::memory_order_acquire);
  std::size_t taken = 0;
  for (std::uint32_t i = 0; i < used; ++i) {
    Place& place = pool.places[i];
    const PlaceState state = state_of(place);
    if (state == PlaceState::retired && holds_records_of(place, stream)) {
      packer->order[count++] = &place;
    } else if (state == PlaceState::taken && taken_too && holds_records_of(place, stream)) {
      packer->taken[taken++] = &place;
    }
  }
  std::sort(first, packer->order + count,
            [](const Place* a, const Place* b) { return a->retired_as < b->retired_as; });
  std::sort(packer->taken, packer->taken + taken,
            [](const Place* a, const Place* b) { return a->chunk->sequence < b->chunk->sequence; });
  std::copy(packer->taken, packer->taken + taken, packer->order + count);
  return count + taken;
}

}  // namespace

bool note_write(bool ok) {
  if (!ok) {
    note_error(errno);
    return false;
  }
  packer->error.store(0, std::memory_order_relaxed);
  packer->progress.fetch_add(1, std::memory_order_release);
  return true;
}

std::uint32_t first_unpacked(const Place& place) {
  return place.packed == 0 ? sizeof(ChunkHeader) : place.packed;
}

bool write_block(std::uint8_t flags) {
  packer->encoder.end(flags);
  const auto* block = reinterpret_cast<const BlockHeader*>(packer->block);
  if (!note_write(packer->blocks.write(*block))) {
    return false;
  }
  if (packer->is_mapped()) {
    __atomic_store_n(&packer->file.page->allocated_bytes, packer->blocks.end(), __ATOMIC_RELEASE);
  }
  return true;
}

// At the end of a process a thread may still be writing there: whatever is found then is right.
// ThreadSanitizer is told that this is meant.
#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread")))
#endif
bool is_unfinished(const Place& place) {
  const auto* base = reinterpret_cast<const unsigned char*>(place.chunk);
  std::uint64_t any = 0;
  for (std::uint32_t at = first_unpacked(place); at + 8 <= place.chunk->bytes; at += 8) {
    any |= *reinterpret_cast<const std::uint64_t*>(base + at);
  }
  return any != 0;
}

std::size_t chunks_in_order(Chunks which) {
  const bool all = which == Chunks::all;
  const std::size_t count =
      add_chunks(Stream::definitions, all || which == Chunks::retired_and_definitions, 0);
  return add_chunks(Stream::events, all, count);
}

bool pack_chunks(Chunks which) {
  const std::size_t count = chunks_in_order(which);
  for (std::size_t i = 0; i < count; ++i) {
    Place& place = *packer->order[i];
    const ChunkHeader& chunk = *place.chunk;
    if (!packer->turns.begin(chunk.lane, chunk.stream, chunk.sequence)) {
      continue;
    }
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

// --- turns ---------------------------------------------------------------------------------------

namespace {

void write_all_now() {
  if (log_is_removed()) {
    abandon_log();
    return;
  }
  copy_parts();
  if (pack_chunks(Chunks::all)) {
    const StorageCall call;
    write_changed_parts();
  }
}

// Whether a drained log is to be written as far as it is.
bool is_time_for_all() {
  const std::uint64_t t = monotonic_raw_ns();
  if (packer->is_mapped() || t - packer->last_turn < packer->turn_interval_ns) {
    return false;
  }
  packer->last_turn = t;
  packer->turn_interval_ns =
      std::min<std::uint64_t>(2 * packer->turn_interval_ns, kDrainIntervalNs);
  return true;
}

void pack_turn() {
  if (packer->removed) {
    return;
  }
  if (wants_lanes()) {
    const StorageCall call;
    add_lane_table();
  }
  if (is_time_for_all()) {
    write_all_now();
  } else {
    // Of a mapped log the definitions that threads have are in the file of chunks.
    pack_chunks(packer->is_mapped() ? Chunks::retired : Chunks::retired_and_definitions);
  }
}

void take_room() {
  const StorageCall call;
  packer->blocks.reserve();
}

bool is_running() { return packer->state.load(std::memory_order_acquire) == Packer::kRunning; }

// Until there may be more work. False: a sandbox lets nobody wait, nor the process be told.
bool wait_for_work(std::uint32_t seen) {
  const bool failing = packer_error() != 0 && !packer->removed;
  return futex_wait(packer->work, failing ? packer->work.load(std::memory_order_acquire) : seen,
                    failing ? kRetryNs : static_cast<long>(packer->turn_interval_ns));
}

void* packer_main(void*) {
  tell_life(packer->lives);
  take_room();
  while (is_running()) {
    const std::uint32_t seen = packer->work.load(std::memory_order_acquire);
    pack_turn();
    drain_counters();
    std::uint32_t running = Packer::kRunning;
    if (is_running() && !wait_for_work(seen) &&
        packer->state.compare_exchange_strong(running, Packer::kLeft, std::memory_order_acq_rel)) {
      note_error(EPERM);  // whatever number the sandbox has for it
      return nullptr;
    }
  }
  close_log();
  leave_thread();
}

}  // namespace

void forget_packer() { packer = nullptr; }

bool start_packer(const OutputLog& file) {
  packer = static_cast<Packer*>(map_memory(sizeof(Packer)));
  if (packer == nullptr) {
    return false;
  }
  packer->file = file;
  packer->turn_interval_ns = kFirstTurnNs;
  packer->last_turn = monotonic_raw_ns();
  packer->blocks.start(file.fd, file.page->max_event_bytes);
  memcpy(packer->written, file.page, kProcessPageBytes);
  packer->parts[0] = {.live = reinterpret_cast<unsigned char*>(file.page),
                      .copy = packer->page,
                      .written = packer->written,
                      .bytes = kProcessPageBytes,
                      .at = 0,
                      .lanes_offset = kLanesOffset};
  packer->part_count = 1;
  packer->lives.store(1, std::memory_order_relaxed);
  packer->threaded = file.storage == Storage::drained && spawn_thread(packer_main);
  return true;
}

void reserve_log() {
  if (packer != nullptr && !packer->threaded) {
    take_room();
  }
}

void pack_retired() {
  if (packer == nullptr) {
    return;
  }
  if (!packer->threaded) {
    pack_turn();
    return;
  }
  const std::uint64_t retirements = pool.retirements.load(std::memory_order_relaxed);
  if (retirements != packer->seen_retirements || wants_lanes()) {
    packer->seen_retirements = retirements;
    futex_bump(packer->work);
  }
}

bool log_is_removed() {
  const StorageCall call;
  return is_removed(packer->file);
}

void abandon_log() {
  packer->removed = true;
  note_error(ENOENT);
  pool.lanes.cause.store(DropCause::removed, std::memory_order_relaxed);
}

bool packer_is_gone() {
  return packer != nullptr && packer->threaded &&
         packer->lives.load(std::memory_order_relaxed) == 0;
}

std::uint32_t packer_threads() { return packer != nullptr && packer->threaded ? 1 : 0; }

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

void close_without_helper() {
  if (packer != nullptr && packer->is_mapped()) {
    __atomic_store_n(&packer->file.page->closed, std::uint8_t{1}, __ATOMIC_RELEASE);
  }
}

void wait_for_packer(std::uint64_t end_begun_ns) {
  if (packer == nullptr) {
    return;
  }
  std::uint32_t running = Packer::kRunning;
  if (packer->threaded) {
    packer->state.compare_exchange_strong(running, Packer::kStopAsked, std::memory_order_acq_rel);
    futex_bump(packer->work);
  }
  const auto progress = [] { return packer->progress.load(std::memory_order_acquire); };
  EndWait wait(end_begun_ns, monotonic_raw_ns(), progress());
  for (std::uint32_t state;
       (state = packer->state.load(std::memory_order_acquire)) < Packer::kStopped;) {
    const std::uint64_t left = wait.left_ns(monotonic_raw_ns(), progress());
    if (left == 0) {
      break;
    }
    futex_wait(packer->state, state, static_cast<long>(left));
  }
}

}  // namespace uctrace::log

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
#include "event-log/recorder/removed_log.hpp"
#include "event-log/recorder/thread.hpp"
#include "event-log/recorder/ticks.hpp"

namespace uctrace::log {

constinit Packer* packer = nullptr;

namespace {

constexpr long kRetryNs = 50'000'000;
// The first turns of a drained log follow each other faster: its page changes most at that time.
constexpr std::uint64_t kFirstTurnNs = 10'000'000;

void note_error(int error) {
  packer->error.store(error, std::memory_order_relaxed);
  ProcessPage* page = packer->file.page;
  if (error != 0 && page->write_errno == 0) {
    page->write_errno = static_cast<std::uint32_t>(error);
  }
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

// Whether it is time to write everything of a drained log.
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

std::uint64_t chunks_waiting() {
  const std::uint64_t packed = pool.recycled.load(std::memory_order_acquire);
  return pool.retirements.load(std::memory_order_relaxed) - packed;
}

void begin_sharing() {
  const std::uint64_t bound = most_waiting_bytes(packer->file.storage) / kChunkBytes;
  const std::uint32_t assistants = packer->share.begin_turn(chunks_waiting(), bound);
  packer->together =
      packer->team != nullptr && (packer->team->hire(assistants) || packer->callers_assist);
}

void pack_turn() {
  if (packer->removed) {
    return;
  }
  if (wants_lanes()) {
    const StorageCall call;
    add_lane_table();
  }
  begin_sharing();
  if (is_time_for_all()) {
    write_all_now();
  } else {
    // With a mapped log, definitions in chunks that threads hold are in the file of chunks.
    pack_chunks(packer->is_mapped() ? Chunks::retired : Chunks::retired_and_definitions);
  }
  packer->together = false;
  packer->share.end_turn();
}

void take_room() {
  const StorageCall call;
  packer->blocks.reserve();
}

bool is_running() { return packer->state.load(std::memory_order_acquire) == Packer::kRunning; }

// Waits until there may be more work. False: a sandbox forbids waiting.
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
      dismiss_assistants();
      return nullptr;
    }
  }
  close_log();
  leave_thread();
}

}  // namespace

void forget_packer() { packer = nullptr; }

std::size_t team_bytes(const Assistance& wanted) {
  return wanted.any() ? sizeof(PackingTeam) + wanted.threads * kThreadStack : 0;
}

namespace {

void start_team(const Assistance& wanted) {
  packer->team = wanted.any() ? PackingTeam::make() : nullptr;
  if (packer->team != nullptr) {
    packer->share.allow(packer->team->start(wanted.threads));
    packer->callers_assist = wanted.callers;
  }
}

}  // namespace

bool start_packer(const OutputLog& file, const Assistance& wanted) {
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
  start_team(wanted);
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

std::uint32_t packer_threads() {
  if (packer == nullptr) {
    return 0;
  }
  const bool own = packer->threaded && packer->lives.load(std::memory_order_relaxed) > 1;
  return (own ? 1 : 0) + (packer->team != nullptr ? packer->team->threads() : 0);
}

bool assist_packing() {
  return packer != nullptr && packer->callers_assist && packer->team->encode_in_call();
}

void dismiss_assistants() {
  if (packer != nullptr && packer->team != nullptr) {
    packer->team->dismiss();
  }
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

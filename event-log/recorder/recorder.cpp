#include "event-log/recorder/recorder.hpp"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event-log/recorder/counter_store.hpp"
#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/lanes.hpp"
#include "event-log/recorder/last_look.hpp"
#include "event-log/recorder/layers.hpp"
#include "event-log/recorder/main_thread.hpp"
#include "event-log/recorder/network_counters.hpp"
#include "event-log/recorder/new_log.hpp"
#include "event-log/recorder/no_helper.hpp"
#include "event-log/recorder/pool.hpp"
#include "event-log/recorder/recorder_parts.hpp"

namespace uctrace::log {

namespace {

// State that a fork child must not inherit, in a page that the kernel clears there.
struct WipedPage {
  detail::Armed armed;     // generation 0 = not recording
  std::uint32_t starting;  // 1 while a thread runs start()
  std::uint32_t failed;    // 1 after start() failed: not tried again in this process
  std::uint32_t ended;     // 1 once the process has run our destructor
  std::uint32_t closed;    // 1 once a thread closes the log
  std::uint32_t loaded;    // 1 in the process that loaded this library
};

constinit WipedPage before_start{};
constinit std::atomic<WipedPage*> wiped{&before_start};
constinit std::uint32_t last_generation = 0;  // inherited on purpose: a child's lanes are new ones

constexpr std::uint64_t kStartWaitNs = 2'000'000'000;

constexpr std::uint64_t kNoRoom = std::uint64_t{1} << 63;  // a position beyond any chunk

std::size_t index_of(Stream stream) { return static_cast<std::size_t>(stream) - 1; }

WipedPage* make_wiped_page() {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    return nullptr;
  }
  madvise(page, 4096, MADV_WIPEONFORK);
  return static_cast<WipedPage*>(page);
}

// For kernels without MADV_WIPEONFORK.
void wipe_in_child() { memset(wiped.load(std::memory_order_relaxed), 0, sizeof(WipedPage)); }

WipedPage* wiped_page() {
  WipedPage* page = wiped.load(std::memory_order_acquire);
  if (page != &before_start) {
    return page;
  }
  WipedPage* fresh = make_wiped_page();
  if (fresh == nullptr) {
    return nullptr;
  }
  if (!wiped.compare_exchange_strong(page, fresh)) {
    munmap(fresh, 4096);
    return page;
  }
  pthread_atfork(nullptr, nullptr, wipe_in_child);
  return fresh;
}

__attribute__((constructor)) void note_loading() {
  if (WipedPage* page = wiped_page()) page->loaded = 1;
}

void close_log(std::uint64_t end_begun_ns) {
  if (__atomic_exchange_n(&wiped.load(std::memory_order_acquire)->closed, 1, __ATOMIC_SEQ_CST)) {
    return;
  }
  end_recording();
  see_gpu_driver();
  define_network_counters_at_end();
  ProcessPage* page = pool.page;
  if (__atomic_load_n(&page->exit, __ATOMIC_RELAXED) == ExitKind::running) {
    __atomic_store_n(&page->exit, ExitKind::exited, __ATOMIC_RELAXED);
  }
  // A thread inside a call may now have counted it and not recorded it, or the opposite.
  __atomic_store_n(&page->threads_at_end, count_other_threads(), __ATOMIC_RELAXED);
  // Later events would be counted and never written.
  __atomic_store_n(&detail::armed.load()->generation, 0, __ATOMIC_RELEASE);
  stop_pool(end_begun_ns);
}

// The log may be beginning on another thread right now: either that thread sees the end, or this
// one sees the beginning. The ending thread may itself be the beginning one, in a signal handler:
// so the wait is bounded.
void wait_for_start(std::uint64_t end_begun_ns) {
  const std::uint64_t give_up = end_begun_ns + kStartWaitNs;
  const WipedPage* page = wiped.load(std::memory_order_acquire);
  while (__atomic_load_n(&page->starting, __ATOMIC_ACQUIRE) != 0 && monotonic_raw_ns() < give_up) {
    sched_yield();
  }
}

__attribute__((destructor)) void finish() {
  const std::uint64_t begun_ns = monotonic_raw_ns();
  take_last_looks(Moment::end);
  __atomic_store_n(&wiped.load(std::memory_order_acquire)->ended, 1, __ATOMIC_SEQ_CST);
  wait_for_start(begun_ns);
  if (armed_now()) {
    close_log(begun_ns);
  }
}

// quick_exit() runs no destructors. The first registered handler runs last, so calls in the
// program's own handlers are recorded. Not those of handlers registered by constructors of linked
// libraries, which run before this one.
__attribute__((constructor)) void watch_quick_exit() { at_quick_exit(finish); }

// Notices the end of a thread, so its lane can be lent again at once. Needs a key whose values are
// in the thread itself: for others glibc allocates, and the first record of a thread may be made in
// a signal handler. The helper finds threads that this misses.
constexpr pthread_key_t kKeysInThread = 32;
constinit pthread_key_t end_of_thread_key = kKeysInThread;

void on_end_of_thread(void* lane) {
  detail::ThreadLane& mine = detail::thread_lane;
  if (mine.lane != lane || mine.generation != detail::generation()) {
    return;  // of the process from which this one was forked
  }
  mine = {};  // later records of the thread take a new lane
  give_back_lane(static_cast<Lane*>(lane));
}

void watch_ends_of_threads() {
  pthread_key_t key;
  if (end_of_thread_key == kKeysInThread && pthread_key_create(&key, on_end_of_thread) == 0) {
    if (key < kKeysInThread) {
      end_of_thread_key = key;
    } else {
      pthread_key_delete(key);
    }
  }
}

}  // namespace

namespace detail {

alignas(128) constinit std::atomic<Armed*> armed{&before_start.armed};
thread_local constinit ThreadLane thread_lane{};

Lane* attach() {
  const std::uint32_t generation = detail::generation();
  if (generation == 0) {
    return nullptr;
  }
  ThreadLane& mine = thread_lane;
  const auto there = static_cast<std::uint32_t>(lanes_there());
  const bool again = mine.asked_in == generation;
  if (again && mine.lanes_then == there) {
    return nullptr;
  }
  Lane* lane = again ? claim_ready_lane() : claim_lane();
  mine = {lane, generation, generation, there};
  if (lane == nullptr && lane_shortage() != DropCause::no_lane) {
    mine.generation = 0;  // the thread asks again once there are more
  }
  if (lane != nullptr) {
    // The only system calls of a thread's recording life: the helper finds dead threads by their
    // id, and looks at once whether several threads start together.
    const long tid = pool.no_helper ? 0 : syscall(SYS_gettid);
    __atomic_store_n(&lane->info->tid, static_cast<std::uint32_t>(tid), __ATOMIC_RELAXED);
    if (end_of_thread_key < kKeysInThread) {
      pthread_setspecific(end_of_thread_key, lane);
    }
    wake_helper();
    lane->take_first_chunk();
    take_first_rows(*lane);
    give_first_slots(*lane);
  }
  return lane;
}

}  // namespace detail

namespace {

// Why wanted counters are in no file.
void say_counting() {
  if (counts() && counter_file_error() != 0) {
    fault(Layer::ucp, FaultCode::counters_not_kept, counter_file_error(),
          "the file of counters could not be made: there are none of this process");
  }
}

}  // namespace

bool keeps_records() { return pool.keeps_records; }

bool is_fork_child() {
  const WipedPage* page = wiped.load(std::memory_order_acquire);
  return page != &before_start && page->loaded == 0;
}

// Check both pages: the log may have begun on another thread meanwhile.
bool has_ended() {
  const WipedPage* page = wiped.load(std::memory_order_acquire);
  return __atomic_load_n(&before_start.ended, __ATOMIC_SEQ_CST) != 0 ||
         __atomic_load_n(&page->ended, __ATOMIC_SEQ_CST) != 0;
}

bool start() {
  if (armed_now()) [[likely]] {
    return true;
  }
  const int saved_errno = errno;
  if (getenv("UCTRACE_DIR") == nullptr || has_ended()) {
    errno = saved_errno;
    return false;
  }
  WipedPage* page = wiped_page();
  if (page == nullptr) {
    errno = saved_errno;
    return false;
  }
  if (__atomic_exchange_n(&page->starting, 1, __ATOMIC_ACQUIRE) != 0) {
    while (__atomic_load_n(&page->starting, __ATOMIC_ACQUIRE) == 1) {
      sched_yield();
    }
    errno = saved_errno;
    return armed_now();
  }
  if (page->armed.generation == 0 && page->failed == 0 && !has_ended()) {
    forget_slots();
    watch_ends_of_threads();
    if (start_pool()) {
      leave_out_unwanted_layers(*pool.page);
      read_recording_conditions();
      reset_for_new_log();
      detail::armed.store(&page->armed, std::memory_order_release);
      __atomic_store_n(&page->armed.generation, ++last_generation, __ATOMIC_SEQ_CST);
      define_process();
      say_counting();
      define_network_counters_at_start();
      watch_recording_signals();
      watch_last_thread();
      if (has_ended()) {
        close_log(monotonic_raw_ns());
      }
    } else {
      page->failed = 1;
    }
  }
  __atomic_store_n(&page->starting, 0, __ATOMIC_RELEASE);
  errno = saved_errno;
  return armed_now();
}

namespace {

// A signal handler switched to another chunk after the place `at` was taken and before it was
// compared. The thread still owns the chunk, and a hole would hide the handler's records after it.
// Places inside the header do not count: if chunks are adjacent, a place past the end of one chunk
// looks like that.
bool is_in(const ChunkHeader* chunk, std::uint64_t at, std::size_t bytes) {
  constexpr std::uint64_t kHead = 4096;
  const auto start = reinterpret_cast<std::uint64_t>(chunk);
  return chunk != nullptr && at >= start + kHead && at + bytes <= start + chunk->bytes;
}

}  // namespace

void* Lane::reserve_in_new_chunk(Stream stream, DropKind kind, std::size_t bytes,
                                 std::uint64_t at) {
  const std::size_t s = index_of(stream);
  if (!switching && is_in(previous_chunk[s], at, bytes)) {
    counters().recorded_events += stream == Stream::events;
    return reinterpret_cast<void*>(at);
  }
  ChunkHeader* chunk = switching ? nullptr : next_chunk(stream);
  if (chunk == nullptr) {
    drop(kind, switching ? DropCause::in_switch : chunk_shortage());
    if (!switching) {
      cursors[s].position = kNoRoom;  // or it would run on into memory outside the chunk
    }
    return nullptr;
  }
  go_on_in(chunk, stream);
  if (pool.packs_in_calls) {
    pack_in_call();
  }
  return take_bytes(stream, kind, bytes);
}

// A lane may wait once for the helper, for its first chunk: otherwise a thread that starts to
// record among many others would lose its first records.
ChunkHeader* Lane::next_chunk(Stream stream) {
  ChunkHeader* chunk = take_chunk();
  const auto bit = static_cast<std::uint8_t>(1u << index_of(stream));
  if (chunk == nullptr && pool.never_drops) {
    return wait_for_free_chunk();
  }
  if (chunk != nullptr || (waited & bit) != 0) {
    return chunk;
  }
  __atomic_fetch_or(&waited, bit, __ATOMIC_RELAXED);  // signal handlers do so, too
  return wait_for_chunk();
}

void Lane::take_first_chunk() {
  const bool may_wait = pool.has_helper && (recording_state() & 1) != 0;
  if (!may_wait || switching || current_chunk[index_of(Stream::events)] != nullptr) {
    return;
  }
  if (ChunkHeader* chunk = next_chunk(Stream::events)) {
    go_on_in(chunk, Stream::events);
  }
}

// A signal handler that finds no room while `switching` drops its record. Slow steps come before
// the old room is given up or after the new one is set: the first touch of a page, and cache lines
// that the helper writes.
void Lane::go_on_in(ChunkHeader* chunk, Stream stream) {
  const std::size_t s = index_of(stream);
  __atomic_fetch_or(&waited, static_cast<std::uint8_t>(1u << s), __ATOMIC_RELAXED);
  const auto start = reinterpret_cast<std::uint64_t>(chunk);
  chunk->lane = index;
  chunk->stream = stream;
  const std::uint64_t end = start + chunk->bytes;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  switching = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  __atomic_store_n(&chunk->sequence, ++sequence[s], __ATOMIC_RELEASE);
  ChunkHeader* const left_before = previous_chunk[s];
  previous_chunk[s] = current_chunk[s];
  current_chunk[s] = chunk;
  // The order matters: no mixture of old and new values may look like room.
  cursors[s].position = kNoRoom;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  cursors[s].end = end;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  cursors[s].position = start + sizeof(ChunkHeader);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (left_before != nullptr) {
    retire_chunk(left_before);  // nobody can be writing there any more
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  switching = false;
}

void Lane::drop(DropKind kind, DropCause cause) {
  if (kind != DropKind::uncounted) {
    ++counters().dropped[static_cast<std::size_t>(kind)];
    ++info->dropped_by_cause[static_cast<std::size_t>(cause)];
  }
}

void count_without_lane(DropKind kind) {
  if (armed_now()) {
    const auto cause = static_cast<std::size_t>(lane_shortage());
    __atomic_fetch_add(&pool.page->dropped_without_lane[static_cast<std::size_t>(kind)], 1,
                       __ATOMIC_RELAXED);
    __atomic_fetch_add(&pool.page->dropped_without_lane_by_cause[cause], 1, __ATOMIC_RELAXED);
  }
}

}  // namespace uctrace::log

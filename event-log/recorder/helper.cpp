// The start and the end of the recorder's threads, and the helper's loop between them.
#include "event-log/recorder/helper.hpp"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "event-log/format/drop_causes.hpp"
#include "event-log/recorder/counter_store.hpp"
#include "event-log/recorder/futex.hpp"
#include "event-log/recorder/lanes.hpp"
#include "event-log/recorder/no_helper.hpp"
#include "event-log/recorder/open_files.hpp"
#include "event-log/recorder/packer.hpp"
#include "event-log/recorder/pool.hpp"
#include "event-log/recorder/switched_on.hpp"
#include "event-log/recorder/thread.hpp"
#include "event-log/recorder/work_share.hpp"

namespace uctrace::log {

namespace {

constexpr std::size_t kReadyAtStart = 8;  // chunks that the program waits for
constexpr std::size_t kSlabsAtStart = 4;
constexpr std::uint64_t kStartWaitNs = 2'000'000'000;
constexpr std::uint64_t kPrepareWaitNs = 30'000'000'000;
constexpr long kStopWaitNs = 2'000'000'000;

// Values of Pool::ready. If the file system does not answer, the starting thread gives up and only
// counts. From then on the thread that makes the log must not publish anything to other threads. So
// it publishes its log only if it is the first to claim the start.
constexpr std::uint32_t kStartOk = 1, kStartFailed = 2, kStartGivenUp = 3;
constexpr std::uint32_t kStartOwned =
    4;                                  // for a moment: nothing in this state calls the file system
constexpr std::uint32_t kLogThere = 5;  // memory is made ready

// Values of Pool::stop.
constexpr std::uint32_t kStopAsked = 1, kStopped = 2;
constexpr std::uint32_t kHelperLeft = 3;  // a sandbox forbids it to wait

bool never_drops() { return is_switched_on("UCTRACE_NEVER_DROP"); }

bool pass_start(std::uint32_t from, std::uint32_t to) {
  if (!pool.ready.compare_exchange_strong(from, to, std::memory_order_acq_rel)) {
    return false;
  }
  futex_wake(pool.ready);
  return true;
}

// If the start was given up, nobody reads the error.
void* fail_to_start(std::uint32_t from, int error) {
  pool.start_errno = error;
  pass_start(from, kStartFailed);
  return nullptr;
}

// The file of the log. False, with errno set: neither folder can be written.
bool make_log(Helper& helper) {
  if (!leave_open_files()) {
    helper.assistants = 0;  // examining the cores would open files in the program's table
  }
  tick_clock = choose_clock();
  helper.budget = memory_budget();
  helper.file = create_output_log();
  return helper.file.fd >= 0;
}

// False: the start was given up, and the log is gone again.
bool own_start(const Helper& helper) {
  if (pass_start(0, kStartOwned)) {
    return true;
  }
  remove_output_log(helper.file);
  return false;
}

void start_packing(Helper& helper) {
  // Assistants are useless without the first chunks.
  const auto has_room = [&](const Assistance& some) {
    return helper.within_budget(team_bytes(some) + kReadyAtStart * kChunkBytes);
  };
  Assistance wanted{helper.assistants, never_drops() && !wants_no_helper()};
  if (!has_room(wanted)) {
    wanted.threads = 0;
  }
  if (!has_room(wanted)) {
    wanted.callers = false;
  }
  helper.slab_bytes_taken += team_bytes(wanted);
  if (!start_packer(helper.file, wanted)) {
    helper.stop_providing(ENOMEM);
  }
}

// Its page, its lanes and its packer.
void publish_log(Helper& helper) {
  pool.page = helper.file.page;
  start_lanes(helper.file.page);
  make_counter_file(helper.file);
  if (!helper.file.grows) {
    helper.stop_growing(static_cast<int>(helper.file.page->write_errno));
  }
  start_packing(helper);
  set_ready_target(helper.ready_target);
  helper.last_poll = monotonic_raw_ns();
  pool.next_look_ns.store(helper.last_poll + kGoneNs, std::memory_order_relaxed);
  pass_start(kStartOwned, kLogThere);
}

// Runs until the process ends. False: waiting is refused.
bool serve_threads(Helper& helper) {
  for (;;) {
    const std::uint32_t seen = pool.wanted.load(std::memory_order_acquire);
    if (pool.stop.load(std::memory_order_acquire) != 0) {
      return true;
    }
    const std::uint64_t next_poll = helper.poll();
    pool.wake_below.store(helper.wake_below(next_poll), std::memory_order_relaxed);
    if (!futex_wait(pool.wanted, seen, static_cast<long>(next_poll))) {
      return false;
    }
  }
}

// False: the process is ending.
bool leave_early(Helper& helper) {
  helper.stop_providing(EPERM);  // whatever number the sandbox has for it
  std::uint32_t running = 0;
  if (!pool.stop.compare_exchange_strong(running, kHelperLeft, std::memory_order_acq_rel)) {
    return false;
  }
  dismiss_assistants();
  return true;
}

void* helper_main(void*) {
  tell_life(pool.helper_lives);
  Helper helper;
  helper.assistants = most_assistants();
  if (!make_log(helper)) {
    return fail_to_start(0, errno);
  }
  if (!own_start(helper)) {
    return nullptr;
  }
  publish_log(helper);
  helper.fill_chunks(std::min(kReadyAtStart, helper.missing_chunks()));
  helper.fill_slabs(kSlabsAtStart);
  pass_start(kLogThere, kStartOk);
  reserve_log();
  helper.fill_chunks(helper.missing_chunks());
  helper.fill_slabs(helper.missing_slabs());
  if (!serve_threads(helper) && leave_early(helper)) {
    return nullptr;
  }
  helper.finish();
  futex_set(pool.stop, kStopped);
  leave_thread();
}

// The file of a log without a helper must be mapped. 0 = it can begin, else the errno.
int obstacle_without_helper(const OutputLog& file) {
  return !file.grows                       ? static_cast<int>(file.page->write_errno)
         : file.storage != Storage::mapped ? EOPNOTSUPP
                                           : 0;
}

// Prepares everything that a log without a helper will ever have, and ends.
void* prepare_main(void*) {
  Helper helper;
  if (!make_log(helper)) {
    return fail_to_start(0, errno);
  }
  if (const int error = obstacle_without_helper(helper.file); error != 0) {
    remove_output_log(helper.file);
    return fail_to_start(0, error);
  }
  if (!own_start(helper)) {
    return nullptr;
  }
  publish_log(helper);
  if (const int error = prepare_packing_in_calls(helper); error != 0) {
    remove_output_log(helper.file);
    return fail_to_start(kLogThere, error);
  }
  if (!pass_start(kLogThere, kStartOk)) {
    remove_output_log(helper.file);
  }
  return nullptr;
}

// Waits for the log. Returns why there will be none; 0 = it exists. After the file exists, only
// memory remains to be prepared: a helper may do that beside the program.
int wait_for_log(bool alone) {
  const std::uint64_t give_up = monotonic_raw_ns() + (alone ? kPrepareWaitNs : kStartWaitNs);
  for (;;) {
    const std::uint32_t seen = pool.ready.load(std::memory_order_acquire);
    if (seen == kStartOk || seen == kStartFailed) {
      return seen == kStartOk ? 0 : pool.start_errno;
    }
    if (monotonic_raw_ns() >= give_up) {
      if (seen == kLogThere && !alone) {
        return 0;
      }
      if (seen != kStartOwned && pass_start(seen, kStartGivenUp)) {
        return seen == kLogThere ? ETIME : ETIMEDOUT;
      }
    }
    futex_wait(pool.ready, seen, static_cast<long>(kStartWaitNs / 10));
  }
}

// Starts the thread that makes the log, and waits for it. Without a helper that thread is then
// gone, even its last system call: the program may soon forbid them. 0 = there is a log.
int start_log(bool alone) {
  if (!alone) {
    return spawn_thread(helper_main) ? wait_for_log(alone) : EAGAIN;
  }
  pthread_t preparing;
  if (!spawn_thread(prepare_main, kThreadStack, &preparing)) {
    return EAGAIN;
  }
  const int reason = wait_for_log(alone);
  if (pool.ready.load(std::memory_order_relaxed) == kStartGivenUp) {
    pthread_detach(preparing);
  } else {
    join_thread(preparing);
  }
  return reason;
}

constinit char counters_path[sizeof(OutputLog::path)];

// Without a helper there are no chunks, only the page, which counts the lost records. It is made on
// the program's thread and leaves no file open in the program's table.
bool start_counting(int reason) {
  tick_clock = choose_clock();
  OutputLog file = create_counters_log(reason);
  if (file.fd < 0) {
    return false;
  }
  close(file.fd);
  memcpy(counters_path, file.path, sizeof file.path);
  pool.page = file.page;
  pool.why_counted = cause_of(reason);
  start_lanes(file.page);
  return true;
}

// The last word of a log that has no records.
void end_counting() {
  __atomic_store_n(&pool.page->closed, 1, __ATOMIC_RELEASE);
  if (pool.page->storage == Storage::drained && !pool.no_helper) {
    rewrite_page(counters_path, *pool.page);
  }
}

// Clears the parent's pool in a fork child. Places that were never used are not touched: they are
// many.
void forget_pool() {
  const std::size_t used = pool.places_used.load(std::memory_order_relaxed);
  memset(static_cast<void*>(pool.places), 0, used * sizeof pool.places[0]);
  constexpr std::size_t kBehind = offsetof(Pool, places_used);
  memset(reinterpret_cast<char*>(&pool) + kBehind, 0, sizeof pool - kBehind);
}

}  // namespace

bool start_pool() {
  const int saved_errno = errno;
  forget_pool();
  forget_packer();
  const bool alone = wants_no_helper();
  const int reason = start_log(alone);
  pool.no_helper = alone;
  pool.keeps_records = reason == 0;
  pool.packs_in_calls = reason == 0 && alone;
  pool.has_helper = reason == 0 && !alone;
  if (pool.packs_in_calls) {
    pool.chunks.cause.store(DropCause::chunks_bound, std::memory_order_relaxed);
    pool.lanes.cause.store(DropCause::no_lane, std::memory_order_relaxed);
  }
  pool.never_drops = pool.has_helper && never_drops();
  if (pool.never_drops) {
    // The packer may already be copying the page.
    __atomic_store_n(&pool.page->never_drops, std::uint8_t{1}, __ATOMIC_RELAXED);
  }
  const bool ok = reason == 0 || start_counting(reason);
  errno = saved_errno;
  return ok;
}

namespace {

// False: it has already left, and its files with it.
bool stop_helper(std::uint64_t end_begun_ns) {
  const bool stopped = monotonic_raw_ns() > pool.next_look_ns.load(std::memory_order_relaxed);
  std::uint32_t running = 0;
  if (!pool.stop.compare_exchange_strong(running, kStopAsked, std::memory_order_acq_rel)) {
    return false;
  }
  wake_helper();
  const std::uint64_t give_up = monotonic_raw_ns() + kStopWaitNs;
  while (pool.stop.load(std::memory_order_acquire) != kStopped &&
         pool.helper_lives.load(std::memory_order_relaxed) != 0 && monotonic_raw_ns() < give_up) {
    futex_wait(pool.stop, kStopAsked, kStopWaitNs / 10);
  }
  if (!stopped || pool.stop.load(std::memory_order_acquire) == kStopped) {
    wait_for_packer(end_begun_ns);
  }
  return true;
}

}  // namespace

void stop_pool(std::uint64_t end_begun_ns) {
  const int saved_errno = errno;
  if (pool.packs_in_calls) {
    close_in_call();
  } else if (!pool.has_helper) {
    end_counting();
  } else if (!stop_helper(end_begun_ns)) {
    close_without_helper();
  }
  errno = saved_errno;
}

}  // namespace uctrace::log

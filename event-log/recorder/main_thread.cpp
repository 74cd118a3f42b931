#include "event-log/recorder/main_thread.hpp"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "event-log/recorder/futex.hpp"
#include "event-log/recorder/packer.hpp"
#include "event-log/recorder/pool.hpp"
#include "event-log/recorder/process_identity.hpp"
#include "event-log/recorder/recorder_parts.hpp"
#include "event-log/recorder/thread.hpp"

namespace uctrace::log {
namespace {

constexpr std::uint32_t kNoKeeper = 0, kKeeps = 1, kLast = 2;

constinit std::atomic<bool> main_has_left{false};

void* keep(void*) {
  constexpr long kLongNs = 1'000'000'000;
  while (pool.keeper.load(std::memory_order_acquire) == kKeeps) {
    if (!futex_wait(pool.keeper, kKeeps, kLongNs)) {
      return nullptr;  // a sandbox forbids waiting: the helper leaves, too
    }
  }
  exit(0);
}

// It has a stack of the usual size: the program's exit handlers run on it.
void start_keeper() {
  std::uint32_t none = kNoKeeper;
  if (pool.has_helper && pool.keeper.compare_exchange_strong(none, kKeeps) &&
      !spawn_thread(keep, kUsualStack)) {
    pool.keeper.store(kNoKeeper);
  }
}

void on_end_of_main(void*) {
  main_has_left.store(true);
  if (armed_now()) {
    start_keeper();
  }
}

// A key of the main thread whose values are in the thread itself: for other keys glibc allocates.
__attribute__((constructor)) void watch_main_thread() {
  constexpr pthread_key_t kKeysInThread = 32;
  pthread_key_t key;
  if (getenv("UCTRACE_DIR") == nullptr || syscall(SYS_gettid) != getpid() ||
      pthread_key_create(&key, on_end_of_main) != 0) {
    return;
  }
  if (key >= kKeysInThread) {
    pthread_key_delete(key);
  } else {
    static constinit char anything = 0;
    pthread_setspecific(key, &anything);
  }
}

}  // namespace

void watch_last_thread() {
  if (main_has_left.load()) {
    start_keeper();
  }
}

void end_with_last_thread() {
  if (pool.keeper.load(std::memory_order_acquire) != kKeeps) {
    return;
  }
  // Ours are counted first: one that ends meanwhile must not hide a thread of the program.
  const std::uint32_t all = threads_after_main();
  const std::uint32_t ours = 2 + packer_threads();  // helper and keeper
  if (all == ours) {
    futex_set(pool.keeper, kLast);
  }
}

}  // namespace uctrace::log

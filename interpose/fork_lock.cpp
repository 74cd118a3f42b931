#include "interpose/fork_lock.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

namespace uctrace::interpose {
namespace {

constexpr std::size_t kPageBytes = 4096;

// The number of this process, in a page that the kernel clears in a fork child; 0 = none yet.
using Number = std::atomic<std::uint32_t>;
constinit Number without_page{0};
constinit std::atomic<Number*> number{&without_page};
constinit std::atomic<std::uint32_t> last_number{0};  // inherited on purpose

void wipe_in_child() { number.load(std::memory_order_relaxed)->store(0); }

// Before any thread needs it: a signal handler cannot safely map a page.
__attribute__((constructor)) void make_page() {
  void* page =
      mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool has_page = page != MAP_FAILED;
  if (has_page) number.store(static_cast<Number*>(page), std::memory_order_relaxed);
  // Kernels before 4.14 cannot clear a page at a fork.
  if (!has_page || madvise(page, kPageBytes, MADV_WIPEONFORK) != 0) {
    pthread_atfork(nullptr, nullptr, wipe_in_child);
  }
}

// The address identifies the thread.
thread_local constinit char here __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace

std::uint32_t process_number() {
  Number& mine = *number.load(std::memory_order_relaxed);
  std::uint32_t known = mine.load(std::memory_order_acquire);
  if (known == 0) {
    const std::uint32_t fresh = last_number.fetch_add(1) + 1;
    if (mine.compare_exchange_strong(known, fresh)) known = fresh;
  }
  return known;
}

bool ForkLock::lock() {
  const std::uint32_t mine = process_number();
  std::uint32_t holder = 0;
  while (!holder_.compare_exchange_weak(holder, mine, std::memory_order_acquire)) {
    if (holder == mine) {
      sched_yield();
      holder = 0;
    }
  }
  return holder != 0;
}

bool RecursiveForkLock::lock() {
  const std::uint32_t mine = process_number();
  if (owner_.load(std::memory_order_relaxed) == &here &&
      owner_process_.load(std::memory_order_relaxed) == mine) {
    ++depth_;
    return false;
  }
  const bool taken_over = lock_.lock();
  owner_process_.store(mine, std::memory_order_relaxed);
  owner_.store(&here, std::memory_order_relaxed);
  depth_ = 1;
  return taken_over;
}

void RecursiveForkLock::unlock() {
  if (--depth_ != 0) return;
  owner_.store(nullptr, std::memory_order_relaxed);
  lock_.unlock();
}

}  // namespace uctrace::interpose

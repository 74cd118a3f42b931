#include "log-merger/parallel/workers.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace uctrace {
namespace {

// The pieces of one call of each().
class Round {
 public:
  Round(std::size_t count, const std::function<void(std::size_t)>& work, Progress* progress)
      : count_(count), work_(work), progress_(progress) {}

  // Takes pieces until there are none. Pieces begin in order, so the failing piece with the lowest
  // number has begun, whichever failed first.
  void take_part() noexcept {
    while (!failed_.load(std::memory_order_relaxed)) {
      const std::size_t piece = next_.fetch_add(1, std::memory_order_relaxed);
      if (piece >= count_) return;
      try {
        work_(piece);
        if (progress_ != nullptr) progress_->count(++done_, count_);
      } catch (...) {
        note_failure(piece, std::current_exception());
      }
    }
  }

  void rethrow() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  void note_failure(std::size_t piece, std::exception_ptr failure) noexcept {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr || piece < failed_piece_) {
      failure_ = std::move(failure);
      failed_piece_ = piece;
    }
    failed_.store(true, std::memory_order_relaxed);
  }

  const std::size_t count_;
  const std::function<void(std::size_t)>& work_;
  Progress* const progress_;
  std::atomic<std::size_t> next_ = 0, done_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;  // guards the following
  std::exception_ptr failure_;
  std::size_t failed_piece_ = 0;
};

}  // namespace

std::size_t usable_cpus() {
  cpu_set_t cpus;
  const bool known = sched_getaffinity(0, sizeof cpus, &cpus) == 0;  // not of more than 1024 CPUs
  return known ? static_cast<std::size_t>(std::max(CPU_COUNT(&cpus), 1))
               : std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
}

void Workers::each(std::size_t count, const std::function<void(std::size_t)>& work) const {
  Round round(count, work, progress_);
  {
    std::vector<std::jthread> helpers;
    const std::size_t wanted = std::min(threads_, std::max<std::size_t>(count, 1)) - 1;
    helpers.reserve(wanted);
    try {
      while (helpers.size() < wanted) helpers.emplace_back([&round] { round.take_part(); });
    } catch (const std::system_error&) {
      // A limit on threads or memory: the existing threads do the work.
    }
    round.take_part();
  }
  round.rethrow();
}

void Workers::each_part(std::size_t count, std::size_t size,
                        const std::function<void(std::size_t, std::size_t)>& work) const {
  each((count + size - 1) / size,
       [&](std::size_t part) { work(part * size, std::min(count, (part + 1) * size)); });
}

}  // namespace uctrace

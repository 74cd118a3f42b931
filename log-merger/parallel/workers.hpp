// Work of the offline half on several threads. What comes out must not depend on how many there
// are: each piece of work has a number, writes what is its own, and is put together in order.
#pragma once

#include <cstddef>
#include <functional>

#include "log-merger/parallel/progress.hpp"

namespace uctrace {

// CPUs that this process may use: those of its affinity mask, at least one.
std::size_t usable_cpus();

// How many threads share the work, the caller's own included. They live as long as a call of
// each(): nothing waits in between, and a caller with one thread never makes another.
class Workers {
 public:
  explicit Workers(std::size_t threads = 1, Progress* progress = nullptr)
      : threads_(threads == 0 ? 1 : threads), progress_(progress) {}

  std::size_t threads() const { return threads_; }
  // Whom the pieces that are done are told to; nullptr: nobody waits for them.
  Progress* progress() const { return progress_; }

  // Calls work(0), ..., work(count - 1), each once and on any thread; returns when all have. They
  // begin in this order. Where some throw, none begins any more, and the exception of the one with
  // the lowest number is thrown here. Where the system gives no more threads, fewer do the work.
  void each(std::size_t count, const std::function<void(std::size_t)>& work) const;

  // Cuts [0, count) into parts of at most `size` and calls work(begin, end) for each.
  void each_part(std::size_t count, std::size_t size,
                 const std::function<void(std::size_t, std::size_t)>& work) const;

 private:
  std::size_t threads_;
  Progress* progress_;
};

}  // namespace uctrace

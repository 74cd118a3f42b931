// Runs offline work on several threads. The result must not depend on their number: each piece of
// work has a number and writes only its own data, and results are combined in order.
#pragma once

#include <cstddef>
#include <functional>

#include "log-merger/parallel/progress.hpp"

namespace uctrace {

// The number of CPUs in this process's affinity mask, at least one.
std::size_t usable_cpus();

// A number of threads that share work, including the caller's. Threads live only during a call of
// each(), and with one thread none is started.
class Workers {
 public:
  explicit Workers(std::size_t threads = 1, Progress* progress = nullptr)
      : threads_(threads == 0 ? 1 : threads), progress_(progress) {}

  std::size_t threads() const { return threads_; }
  // Receives the progress; nullptr: nobody is waiting.
  Progress* progress() const { return progress_; }

  // Calls work(0), ..., work(count - 1), each once on any thread, and returns when all have
  // finished. They begin in this order. If some throw, no more begin, and the exception with the
  // lowest number is rethrown. If the system has no more threads, fewer do the work.
  void each(std::size_t count, const std::function<void(std::size_t)>& work) const;

  // Cuts [0, count) into parts of at most `size` and calls work(begin, end) for each.
  void each_part(std::size_t count, std::size_t size,
                 const std::function<void(std::size_t, std::size_t)>& work) const;

 private:
  std::size_t threads_;
  Progress* progress_;
};

}  // namespace uctrace

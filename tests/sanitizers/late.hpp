// Soon runs the given tasks on threads of its own: how the UCX of these tests ends operations on
// other threads than the one that posted them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Late {
 public:
  explicit Late(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i) {
      threads_.emplace_back([this] { run(); });
    }
  }
  // Everything that was given is done first, and what that gives.
  ~Late() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
  }
  Late(const Late&) = delete;
  Late& operator=(const Late&) = delete;

  void give(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(work));
      ++unfinished_;
    }
    changed_.notify_all();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !waiting_.empty() || (ending_ && unfinished_ == 0); });
      if (waiting_.empty()) {
        return;
      }
      const auto work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work();
      lock.lock();
      if (--unfinished_ == 0 && ending_) {
        changed_.notify_all();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::size_t unfinished_ = 0;
  bool ending_ = false;
  std::vector<std::jthread> threads_;  // last: they end before the rest
};

// Locks that are free in a fork child, and that exclude the threads of one process.
#include "interpose/fork_lock.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

namespace uctrace::interpose {
namespace {

constexpr unsigned kPatienceS = 10;  // a child that waits for ever is ended by SIGALRM

// Whether `body` is true in a fork child.
template <typename Body>
bool in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kPatienceS);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Holds the lock on a thread that no fork child has.
template <typename Lock>
class HeldElsewhere {
 public:
  explicit HeldElsewhere(Lock& lock)
      : thread_([this, &lock] {
          const Held held(lock);
          is_held_.store(true);
          while (!may_end_.load()) std::this_thread::yield();
        }) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(kPatienceS);
    while (!is_held_.load() && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::yield();
    }
    if (!is_held_.load()) std::abort();  // no one holds the lock, and the thread cannot be joined
  }
  ~HeldElsewhere() {
    may_end_.store(true);
    thread_.join();
  }

 private:
  std::atomic<bool> is_held_{false}, may_end_{false};
  std::thread thread_;
};

}  // namespace

TEST_CASE_TEMPLATE("a lock that another thread held at the fork", Lock, ForkLock,
                   RecursiveForkLock) {
  static Lock lock;
  const HeldElsewhere elsewhere(lock);
  CHECK(in_child([] {
    const Held held(lock);
    return held.taken_over();
  }));
  CHECK(in_child([] {
    lock.lock();
    lock.unlock();
    return !lock.lock();  // nobody's by then
  }));
  // And in a child of the child.
  CHECK(in_child([] {
    lock.lock();
    return in_child([] { return lock.lock(); });
  }));
}

TEST_CASE_TEMPLATE("a lock excludes the threads of a process", Lock, ForkLock, RecursiveForkLock) {
  static Lock lock;
  constexpr int kThreads = 4, kRounds = 20000;
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const Held held(lock);
        if (held.taken_over()) count = -kThreads * kRounds;
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(count == kThreads * kRounds);
}

TEST_CASE("the thread that holds a recursive lock takes it again") {
  static RecursiveForkLock lock;
  {
    const Held outer(lock);
    const Held inner(lock);
    CHECK_FALSE(inner.taken_over());
  }
  bool taken_over = true;
  std::thread([&] { taken_over = Held(lock).taken_over(); }).join();
  CHECK_FALSE(taken_over);
}

TEST_CASE("processes have numbers of their own") {
  const std::uint32_t mine = process_number();
  CHECK(mine != 0);
  CHECK(process_number() == mine);
  CHECK(in_child([mine] { return process_number() > mine; }));
}

}  // namespace uctrace::interpose

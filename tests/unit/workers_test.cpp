#include "log-merger/parallel/workers.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <new>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace uctrace {
namespace {

TEST_CASE("each piece of work is done once, whatever the number of threads") {
  for (const std::size_t threads : {1, 2, 3, 16}) {
    for (const std::size_t count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> done(count);
      Workers(threads).each(count, [&](std::size_t piece) { ++done[piece]; });
      for (const auto& times : done) CHECK(times == 1);
    }
  }
}

TEST_CASE("as many threads as asked for work at once") {
  constexpr std::ptrdiff_t kThreads = 4;
  std::barrier all_there(kThreads);  // no thread passes before all four have arrived
  Workers(kThreads).each(kThreads, [&](std::size_t) { all_there.arrive_and_wait(); });
}

TEST_CASE("one thread is the caller's own, and works in order") {
  std::vector<std::size_t> order;
  const std::thread::id caller = std::this_thread::get_id();
  Workers(1).each(5, [&](std::size_t piece) {
    order.push_back(piece);
    CHECK(std::this_thread::get_id() == caller);
  });
  CHECK(order == std::vector<std::size_t>{0, 1, 2, 3, 4});
}

TEST_CASE("parts cover everything once") {
  std::vector<int> covered(1001);
  Workers(3).each_part(covered.size(), 10, [&](std::size_t begin, std::size_t end) {
    CHECK(end - begin <= 10);
    for (std::size_t i = begin; i < end; ++i) ++covered[i];
  });
  CHECK(std::accumulate(covered.begin(), covered.end(), 0) == 1001);
  CHECK(std::set(covered.begin(), covered.end()) == std::set{1});
}

TEST_CASE("the failure of the first piece that fails reaches the caller") {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> begun = 0;
    try {
      Workers(4).each(10000, [&](std::size_t piece) {
        ++begun;
        if (piece >= 3) throw std::runtime_error(std::to_string(piece));
      });
      FAIL("nothing was thrown");
    } catch (const std::runtime_error& failure) {
      CHECK(failure.what() == std::string("3"));
    }
    CHECK(begun <= 3 + 4);  // each thread sees its own failure
  }
}

TEST_CASE("a lack of memory in a thread is one in the caller") {
  CHECK_THROWS_AS(Workers(4).each(8, [](std::size_t) { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST_CASE("CPUs that a thread may not use do not count") {
  std::size_t usable = 0;
  std::jthread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    usable = usable_cpus();
  }).join();
  CHECK(usable == 1);
}

}  // namespace
}  // namespace uctrace

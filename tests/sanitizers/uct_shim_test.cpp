// UCT with many threads at once: what was counted, what was recorded and what was done must agree.
#include <atomic>

#include "tests/sanitizers/stand_in.hpp"
#include "tests/sanitizers/traffic.hpp"
#include "tests/unit/recording_folder.hpp"
#include "uct-shim/deferred.hpp"

namespace uctrace::log::test {
namespace {

TEST_CASE("operations that end on other threads, when those that posted them have ended") {
  const Folder folder;
  folder.run([] {
    stand_in_start();
    Transport transport;
    in_threads([&](unsigned) {
      const uct_iov_t nothing{};
      for (unsigned i = 0; i < kRounds; ++i) {
        uct_ep_put_zcopy(transport.endpoint, &nothing, 1, 0, 0, transport.completion());
        uct_ep_get_zcopy(transport.endpoint, &nothing, 1, 0, 0, transport.completion());
        uct_ep_tag_rndv_zcopy(transport.endpoint, 1, nullptr, 0, &nothing, 1, 0,
                              transport.completion());
        uct_ep_flush(transport.endpoint, 0, transport.completion());
      }
    });
    stand_in_stop();
    return transport.ended == 4 * kThreads * kRounds;
  });
  const Found found(folder.log());
  CHECK(found.counted.uct_inprogress == 4 * kThreads * kRounds);
  CHECK(found.ended_operations() == 4 * kThreads * kRounds);
  CHECK(found.uct_records() == 4 * kThreads * kRounds + found.counted.uct_completed);
  CHECK(found.completed.size() == found.completions);
  if (found.dropped == 0) {
    CHECK(found.posted.size() + found.counted.uct_untracked == found.posts);
    CHECK(found.posted == found.completed);
  }
}

TEST_CASE("messages that arrive inside the call that sends them, on many threads") {
  const Folder folder;
  folder.run([] {
    stand_in_start();
    Transport transport;
    in_threads([&](unsigned) {
      for (unsigned i = 0; i < kRounds; ++i) {
        uct_ep_am_short(transport.endpoint, kAmId, i, "payload", 8);
      }
    });
    stand_in_stop();
    return transport.arrived == kThreads * kRounds;
  });
  const Found found(folder.log());
  CHECK(found.counted.uct_posted_ok == kThreads * kRounds);
  CHECK(found.uct_records() == 2 * kThreads * kRounds);
  CHECK(found.counted.uct_arrivals == kThreads * kRounds);
}

TEST_CASE("requests that other threads dispatch, also more than once") {
  const Folder folder;
  folder.run([] {
    stand_in_start();
    Transport transport;
    in_threads([&](unsigned) {
      for (unsigned i = 0; i < kRounds; ++i) transport.queue();
    });
    stand_in_stop();
    return transport.dispatched == kThreads * kRounds;
  });
  const Found found(folder.log());
  CHECK(found.counted.uct_pending_added == kThreads * kRounds);
  CHECK(found.counted.uct_pending_untracked == 0);
  CHECK(found.uct_records() == 2 * kThreads * kRounds);  // into the queue and out of it
}

TEST_CASE("interfaces that are opened and closed on many threads") {
  const Folder folder;
  folder.run([] {
    stand_in_start();
    in_threads([&](unsigned) {
      for (unsigned i = 0; i < 20; ++i) {
        Transport transport;
        uct_ep_put_short(transport.endpoint, "12345678", 8, 0, 0);
      }
    });
    stand_in_stop();
    return true;
  });
  const Found found(folder.log());
  CHECK(found.counted.uct_posted_ok == kThreads * 20);
  CHECK(found.uct_records() == kThreads * 20);
}

TEST_CASE("what waiting requests are for: each thread has its own, all forget at times") {
  const Folder folder;
  folder.run([] {
    std::atomic<bool> well{true};
    in_threads([&](unsigned thread) {
      const auto first = (std::uint64_t{thread} + 1) << 20;
      for (std::uint64_t i = 0; i < 10 * kRounds; ++i) {
        // Never read: addresses of requests, 264 bytes apart as UCP's are.
        const auto request = reinterpret_cast<uct::Request>(first + i % 100 * 264);
        uct::defer(request, {first + i, Origin::ucp, Route::call});
        uct::Context found{};
        // Another thread may have made all void in between; but it is never another's.
        if (uct::find_deferred(request, found) && found.origin != first + i) well = false;
        if (i % 3 != 0) uct::forget_deferred(request);
        if (thread == 0 && i % 50 == 0) uct::forget_all_deferred();
      }
      for (std::uint64_t i = 0; i < 100; ++i) {
        uct::forget_deferred(reinterpret_cast<uct::Request>(first + i * 264));
      }
    });
    return well && !uct::any_deferred();
  });
}

}  // namespace
}  // namespace uctrace::log::test

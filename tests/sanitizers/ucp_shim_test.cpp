// UCP with many threads at once: what was counted, what was recorded and what was done must agree.
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "tests/sanitizers/stand_in.hpp"
#include "tests/sanitizers/traffic.hpp"
#include "tests/unit/recording_folder.hpp"
#include "ucp-shim/active_requests.hpp"

namespace uctrace::log::test {
namespace {

TEST_CASE("UCP operations of many threads on one worker, which end on others") {
  const Folder folder;
  folder.run([] {
    stand_in_start();
    {
      Messenger messenger;
      in_threads([&](unsigned) {
        for (unsigned i = 0; i < kRounds; ++i) messenger.exchange();
      });
      stand_in_stop();
    }
    return true;
  });
  const Found found(folder.log());
  CHECK(found.counted.ucp_operations == 3 * kThreads * kRounds);
  CHECK(found.counted.ucp_sends == kThreads * kRounds);
  CHECK(found.counted.ucp_receives == kThreads * kRounds);
  CHECK(found.counted.ucp_puts == kThreads * kRounds);
  CHECK(found.ucp_records() == 3 * kThreads * kRounds + found.counted.ucp_completed);
  CHECK(found.begun.size() == found.operations);
  CHECK(found.ended.size() == found.ends);
  CHECK(found.uct_records() == found.counted.uct_posted_ok + found.counted.uct_completed);
  CHECK(found.counted.uct_inprogress == found.ended_operations());
}

// Recording is off at first, and MPI_Pcontrol switches it.
void run_on_demand(const Folder& folder, void (*body)(Messenger&)) {
  setenv("UCTRACE_START_ON", "pcontrol", 1);
  setenv("UCTRACE_STOP_ON", "pcontrol", 1);
  folder.run([body] {
    stand_in_start();
    {
      Messenger messenger;
      body(messenger);
      stand_in_stop();
    }
    return true;
  });
  unsetenv("UCTRACE_START_ON");
  unsetenv("UCTRACE_STOP_ON");
}

TEST_CASE("while recording is switched again and again, many threads count all and record a part") {
  const Folder folder;
  run_on_demand(folder, [](Messenger& messenger) {
    std::atomic<bool> over{false};
    std::jthread switching([&] {
      for (int level = 1; !over; level = 1 - level) {
        switch_recording_by_level(level);
        usleep(300);
      }
    });
    in_threads([&](unsigned) {
      for (unsigned i = 0; i < kRounds; ++i) messenger.exchange();
    });
    over = true;
    switching.join();
  });
  const Found found(folder.log());
  const auto outside = [&](DropKind kind) {
    return found.counted.outside_window[static_cast<std::size_t>(kind)];
  };
  CHECK(found.counted.ucp_operations == 3 * kThreads * kRounds);
  CHECK(found.counted.ucp_sends == kThreads * kRounds);
  CHECK(found.counted.ucp_receives == kThreads * kRounds);
  CHECK(found.counted.ucp_messages_taken == kThreads * kRounds);
  CHECK(found.counted.ucp_puts == kThreads * kRounds);
  CHECK(found.ucp_records() + outside(DropKind::ucp) ==
        found.counted.ucp_operations + found.counted.ucp_completed);
  CHECK(found.uct_records() + outside(DropKind::uct) ==
        found.counted.uct_posted_ok + found.counted.uct_completed);
  CHECK(outside(DropKind::ucp) > 0);
  CHECK(found.operations > 0);
}

struct Ends {
  Messenger& messenger;
  Transport transport;
};

// Packs the data of an operation: meanwhile, a send is left out, and a part of the operation is
// posted.
std::size_t send_and_post(void*, void* argument) {
  auto& ends = *static_cast<Ends*>(argument);
  const ucp_request_param_t defaults{};
  const std::uint64_t sent = 0;
  switch_recording_by_level(0);
  Messenger::wait(ucp_tag_send_nbx(ends.messenger.endpoint, &sent, 8, 1, &defaults));
  switch_recording_by_level(1);
  uct_ep_put_short(ends.transport.endpoint, nullptr, 0, 0, 0);
  return 0;
}

TEST_CASE("a call that is left out inside an operation: that one goes on as it began") {
  const Folder folder;
  run_on_demand(folder, [](Messenger& messenger) {
    Ends ends{messenger, {}};
    switch_recording_by_level(1);
    uct_ep_am_bcopy(ends.transport.endpoint, kAmId, send_and_post, &ends, 0);
  });
  const Found found(folder.log());
  CHECK(found.counted.outside_window[static_cast<std::size_t>(DropKind::ucp)] == 1);
  CHECK(found.counted.outside_window[static_cast<std::size_t>(DropKind::uct)] == 1);
  CHECK(found.counted.uct_posted_ok == 2);  // the operation, and what the send posted
  CHECK(found.posts == 1);
}

TEST_CASE("a receive that is left out: parameters that are newer than uctrace are a fault") {
  const Folder folder;
  run_on_demand(folder, [](Messenger& messenger) {
    std::uint64_t got = 0;
    ucp_request_param_t param{};
    const auto receive = [&] {
      Messenger::wait(ucp_tag_recv_nbx(messenger.worker, &got, 8, 1, UINT64_MAX, &param));
    };
    receive();  // from here on the lane is known to be off
    param.op_attr_mask = 1 << 30;
    receive();
  });
  const LogFile log = folder.log();
  unsigned faults = 0;
  log.for_each_record(Stream::definitions, [&](std::uint16_t, const FaultView& view) {
    faults += view.code() == FaultCode::request_field_unknown;
  });
  CHECK(faults == 1);
  CHECK(Found(log).counted.ucp_untracked == 1);
}

TEST_CASE("requests that are freed before they end") {
  const Folder folder;
  folder.run([] {
    stand_in_start();
    {
      Messenger messenger;
      in_threads([&](unsigned) {
        const ucp_request_param_t defaults{};
        for (unsigned i = 0; i < kRounds; ++i) {
          std::uint64_t sent = i;
          ucs_status_ptr_t request = ucp_tag_send_nbx(messenger.endpoint, &sent, 8, 1, &defaults);
          if (request != nullptr) ucp_request_free(request);
        }
      });
      stand_in_stop();
    }
    return true;
  });
  const Found found(folder.log());
  CHECK(found.ucp_records() == kThreads * kRounds + found.counted.ucp_completed);
  CHECK(found.begun.size() == found.operations);
  CHECK(found.ended.size() == found.ends);
}

jmp_buf left;

void leave(void*, ucs_status_t, void*) { longjmp(left, 1); }

// A send whose callback, called inside the call, does not return.
void send_and_leave(Messenger& messenger) {
  static std::uint64_t sent;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK;
  param.cb.send = leave;
  if (setjmp(left) == 0) {
    for (;;) ucp_tag_send_nbx(messenger.endpoint, &sent, 8, 1, &param);
  }
}

TEST_CASE("a callback that is left by a long jump: what its thread does next is its own") {
  constexpr unsigned kExchanges = 50;
  const Folder folder;
  folder.run([] {
    stand_in_start();
    {
      Messenger messenger;
      send_and_leave(messenger);
      for (unsigned i = 0; i < kExchanges; ++i) messenger.exchange();
      stand_in_stop();
    }
    return true;
  });
  const LogFile log = folder.log();
  CHECK_FALSE(log.damage().any());
  std::map<Id, unsigned> posts;  // by the UCP operation that they serve
  log.for_each_record(Stream::events, [&](std::uint16_t, const UctOperationView& view) {
    if (view.r.origin != 0) ++posts[view.r.origin];
  });
  CHECK(posts.size() + log.dropped_records() >= 3 * kExchanges + 1);
  for (const auto& [operation, count] : posts) CHECK(count == 1);
}

// Requests whose addresses lead to the same place in the list: as many as may lie beside it.
std::vector<void*> colliding_requests() {
  std::vector<void*> found;
  ucp::ActivePlace first = 0;
  for (std::uintptr_t address = 0x10000; found.size() < kThreads; address += 8) {
    auto* request = reinterpret_cast<void*>(address);
    const ucp::ActivePlace place = ucp::list_active(request);
    first = first == 0 ? place : first;
    if (place == first) found.push_back(request);
    ucp::end_active(place, request);
  }
  return found;
}

TEST_CASE("requests of many threads that are listed at one place at once are all found") {
  const std::vector<void*> requests = colliding_requests();
  std::atomic<unsigned> here{0}, lost{0};
  in_threads([&](unsigned thread) {
    void* request = requests[thread];
    for (unsigned i = 0; i < 10 * kRounds; ++i) {
      ++here;
      while (here < kThreads * (i + 1)) std::this_thread::yield();
      const ucp::ActivePlace place = ucp::list_active(request);
      const bool freed = i % 2 == 0 && ucp::mark_freed(request);
      const bool told = place != 0 && ucp::end_active(place, request);
      lost += place == 0 || freed != (i % 2 == 0) || told == freed;
    }
  });
  CHECK(lost == 0);
}

}  // namespace
}  // namespace uctrace::log::test

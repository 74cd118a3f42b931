// The shims with many threads at once, in processes of their own, over a UCX and an MPI that stand
// in for real ones (stand_in.hpp). What was counted, what was recorded and what was done must
// agree.
#include <doctest/doctest.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <ucp/api/ucp.h>
#include <uct/api/uct.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "event-log/reader.hpp"
#include "tests/sanitizers/stand_in.hpp"
#include "tests/unit/recording_folder.hpp"
#include "ucp-shim/active_requests.hpp"
#include "uct-shim/carried.hpp"

namespace uctrace::log::test {
namespace {

constexpr unsigned kThreads = 8, kRounds = 300;

void in_threads(const std::function<void(unsigned)>& body) {
  std::barrier together(kThreads);
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      together.arrive_and_wait();
      body(i);
    });
  }
}

// What a log holds, and what its lanes counted.
struct Found {
  LaneCounters counted{};
  std::uint64_t dropped = 0, posts = 0, completions = 0, arrivals = 0, pending = 0;
  std::uint64_t operations = 0, ends = 0, calls = 0;
  std::set<Id> posted, completed, begun, ended;

  explicit Found(const LogFile& log) : dropped(log.dropped_records()) {
    CHECK_FALSE(log.damage().any());
    for (const LaneInfo& lane : log.lanes()) {
      const auto* from = reinterpret_cast<const std::uint64_t*>(&lane.counters);
      auto* to = reinterpret_cast<std::uint64_t*>(&counted);
      for (std::size_t i = 0; i < sizeof counted / sizeof *to; ++i) to[i] += from[i];
    }
    log.for_each_record(Stream::events, [&](std::uint16_t, const auto& view) { take(view); });
  }

  void take(const UctOperationView& view) {
    ++posts;
    if (view.has_end()) posted.insert(view.id);
  }
  void take(const UctCompletionView& view) {
    ++completions;
    completed.insert(view.r.operation);
  }
  void take(const UctPendingView&) { ++pending; }
  void take(const UctArrivalView&) { ++arrivals; }
  void take(const UcpOperationView& view) {
    ++operations;
    begun.insert(view.r.id);
  }
  void take(const UcpCompletionView& view) {
    ++ends;
    ended.insert(view.r.operation);
  }
  void take(const MpiCallView&) { ++calls; }
  template <typename Other>
  void take(const Other&) {}

  // On a busy machine the helper may be late. What it has no chunk for is dropped and counted, and
  // operations without a slot go untracked.
  std::uint64_t dropped_of(DropKind kind) const {
    return counted.dropped[static_cast<std::size_t>(kind)];
  }
  // UCT's records, with those that were lost.
  std::uint64_t uct_records() const {
    return posts + completions + arrivals + pending + dropped_of(DropKind::uct);
  }
  std::uint64_t ended_operations() const { return counted.uct_completed + counted.uct_untracked; }
  std::uint64_t ucp_records() const { return operations + ends + dropped_of(DropKind::ucp); }
};

// --- UCT -----------------------------------------------------------------------------------------

constexpr std::uint8_t kAmId = 20;

struct Transport {
  uct_iface_h interface = nullptr;
  uct_ep_h endpoint = nullptr;
  std::atomic<unsigned> ended{0}, arrived{0}, dispatched{0};

  Transport() {
    uct_iface_params_t params{};
    params.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE;
    params.open_mode = UCT_IFACE_OPEN_MODE_DEVICE;
    params.mode.device = {"self", "memory"};
    uct_iface_open(nullptr, nullptr, &params, nullptr, &interface);
    uct_iface_set_am_handler(interface, kAmId, on_message, this, 0);
    uct_ep_params_t to_self{};
    to_self.field_mask = UCT_EP_PARAM_FIELD_IFACE;
    to_self.iface = interface;
    uct_ep_create(&to_self, &endpoint);
  }
  ~Transport() {
    uct_ep_destroy(endpoint);
    uct_iface_close(interface);
  }

  static ucs_status_t on_message(void* self, void*, std::size_t, unsigned) {
    ++static_cast<Transport*>(self)->arrived;
    return UCS_OK;
  }

  struct Completion {
    uct_completion_t base;
    Transport* transport;
  };
  uct_completion_t* completion() {
    auto* made = new Completion{{on_end, 1, UCS_OK}, this};
    return &made->base;
  }
  static void on_end(uct_completion_t* base) {
    auto* completion = reinterpret_cast<Completion*>(base);
    ++completion->transport->ended;
    delete completion;
  }

  struct Request {
    uct_pending_req_t base;
    Transport* transport;
    unsigned tries;
  };
  void queue() {
    auto* request = new Request{{on_dispatch, {}}, this, 0};
    uct_ep_pending_add(endpoint, &request->base, 0);
  }
  static ucs_status_t on_dispatch(uct_pending_req_t* base) {
    auto* request = reinterpret_cast<Request*>(base);
    if (++request->tries < 3) return UCS_ERR_NO_RESOURCE;
    ++request->transport->dispatched;
    delete request;
    return UCS_OK;
  }
};

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
        uct::carry(request, {first + i, Origin::ucp, Route::call});
        uct::Context found{};
        // Another thread may have made all void in between; but it is never another's.
        if (uct::find_carried(request, found) && found.origin != first + i) well = false;
        if (i % 3 != 0) uct::forget_carried(request);
        if (thread == 0 && i % 50 == 0) uct::forget_all_carried();
      }
      for (std::uint64_t i = 0; i < 100; ++i) {
        uct::forget_carried(reinterpret_cast<uct::Request>(first + i * 264));
      }
    });
    return well && !uct::any_carried();
  });
}

// --- UCP -----------------------------------------------------------------------------------------

void on_send(void*, ucs_status_t, void* ended) { ++*static_cast<std::atomic<unsigned>*>(ended); }

struct Messenger {
  ucp_worker_h worker = nullptr;
  ucp_ep_h endpoint = nullptr;
  std::atomic<unsigned> ended{0};

  Messenger() {
    const ucp_worker_params_t worker_params{};
    ucp_worker_create(nullptr, &worker_params, &worker);
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    ucp_ep_create(worker, &params, &endpoint);
  }
  ~Messenger() { ucp_worker_destroy(worker); }

  static void wait(ucs_status_ptr_t request) {
    if (request == nullptr) return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS) std::this_thread::yield();
    ucp_request_free(request);
  }

  void exchange() {
    const ucp_request_param_t defaults{};
    ucp_request_param_t told{};
    told.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    told.cb.send = on_send;
    told.user_data = &ended;
    std::uint64_t got = 0;
    ucs_status_ptr_t receive = ucp_tag_recv_nbx(worker, &got, 8, 1, UINT64_MAX, &defaults);
    wait(ucp_tag_send_nbx(endpoint, &got, 8, 1, &told));
    wait(receive);
    wait(ucp_put_nbx(endpoint, &got, 8, 0, nullptr, &defaults));
  }
};

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

// --- MPI, and all together -----------------------------------------------------------------------

void call_mpi(unsigned tag) {
  StandInComm own = 0;
  int request = 0;
  MPI_Comm_dup(kStandInWorld, &own);
  MPI_Irecv(nullptr, 8, kStandInChar, 0, static_cast<int>(tag), own, &request);
  MPI_Send(nullptr, 8, kStandInChar, 0, static_cast<int>(tag), own);
  MPI_Wait(&request, nullptr);
  MPI_Comm_free(&own);
}

TEST_CASE("the first calls of a process come on many threads at once") {
  const Folder folder;
  folder.run_unstarted([] {
    stand_in_start();
    in_threads([&](unsigned thread) {
      for (unsigned i = 0; i < kRounds; ++i) call_mpi(thread);
    });
    stand_in_stop();
    return true;
  });
  const Found found(folder.log());
  CHECK(found.counted.mpi_calls == 5 * kThreads * kRounds);
  CHECK(found.calls + found.dropped_of(DropKind::mpi) == 5 * kThreads * kRounds);
}

// ThreadSanitizer cannot start threads in the child of a process that has some.
#if defined(__SANITIZE_THREAD__)
constexpr unsigned kChildrenThatRecord = 0;
#else
constexpr unsigned kChildrenThatRecord = 3;
#endif

TEST_CASE("children are forked, and record for themselves, while other threads record") {
  constexpr unsigned kOthers = 3, kChildren = kOthers + kChildrenThatRecord;
  const Folder folder;
  folder.run([&] {
    stand_in_start();
    std::atomic<bool> done{false};
    {
      Messenger messenger;
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
          while (!done) messenger.exchange();
        });
      }
      bool well = true;
      for (unsigned i = 0; i < kChildren; ++i) {
        const pid_t child = fork();
        if (child == 0) {
          // The first ones record nothing; the others use the UCX anew.
          if (i >= kOthers) {
            if (!start()) _exit(1);
            Transport transport;
            uct_ep_put_short(transport.endpoint, "12345678", 8, 0, 0);
          } else if (lane() != nullptr) {
            _exit(2);
          }
          std::exit(0);  // its own log, if it has one, is ended; not its parent's
        }
        int status = -1;
        well = well && waitpid(child, &status, 0) == child && status == 0;
      }
      done = true;
      threads.clear();
      stand_in_stop();
      return well;
    }
  });
  const auto logs = folder.log_paths();
  CHECK(logs.size() == 1 + kChildrenThatRecord);
  std::uint64_t posts_of_children = 0;
  for (const auto& path : logs) {
    const LogFile log = LogFile::open(path);
    const Found found(log);
    CHECK(log.page().closed == 1);
    CHECK(found.uct_records() == found.counted.uct_posted_ok + found.counted.uct_completed);
    CHECK(found.ucp_records() == found.counted.ucp_operations + found.counted.ucp_completed);
    if (found.operations == 0) posts_of_children += found.posts;
  }
  CHECK(posts_of_children == kChildrenThatRecord);
}

TEST_CASE("the process ends while threads record") {
  const Folder folder;
  static std::atomic<unsigned> going{0};
  folder.run([] {
    stand_in_start();
    auto* messenger = new Messenger;  // for ever: its threads go on to the last moment
    for (unsigned i = 0; i < kThreads; ++i) {
      std::thread([messenger] {
        for (;;) {
          messenger->exchange();
          ++going;
        }
      }).detach();
    }
    while (going < 1000) std::this_thread::yield();
    return true;
  });
  const Found found(folder.log());
  CHECK(found.operations + found.dropped_of(DropKind::ucp) >= 3000 - 3 * kThreads);
}

}  // namespace
}  // namespace uctrace::log::test

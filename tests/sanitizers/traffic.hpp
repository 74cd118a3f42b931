// The traffic of the shim tests on many threads, and its log: over stand-ins for UCX and MPI
// (stand_in.hpp).
#pragma once

#include <doctest/doctest.h>
#include <ucp/api/ucp.h>
#include <uct/api/uct.h>

#include <atomic>
#include <barrier>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "event-log/reader/reader.hpp"

namespace uctrace::log::test {

inline constexpr unsigned kThreads = 8, kRounds = 300;

inline void in_threads(const std::function<void(unsigned)>& body) {
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
    for (const std::string& sentence : log.damage().sentences()) MESSAGE(sentence);
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

inline constexpr std::uint8_t kAmId = 20;

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

  static void on_send(void*, ucs_status_t, void* ended) {
    ++*static_cast<std::atomic<unsigned>*>(ended);
  }

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

}  // namespace uctrace::log::test

// An interface: its capabilities, its addresses, and what its progress does: messages first, then
// the ends that are due, then the pending queues.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "transport.hpp"

namespace scripted {

namespace {

constexpr std::size_t kShort = 256, kBcopy = 8192, kZcopy = kSlotBytes, kHeader = 512, kIov = 8;
constexpr std::size_t kAnyLength = std::size_t{1} << 40;

void fill_limits(uct_iface_attr_t& attributes) {
  auto& cap = attributes.cap;
  cap.put.max_short = kShort;
  cap.put.max_bcopy = kBcopy;
  cap.put.max_zcopy = kAnyLength;
  cap.put.opt_zcopy_align = cap.put.align_mtu = 1;
  cap.put.max_iov = kIov;
  cap.get = {kShort, kBcopy, 0, kAnyLength, 1, 1, kIov};
  cap.am.max_short = kShort;
  cap.am.max_bcopy = kBcopy;
  cap.am.max_zcopy = kZcopy;
  cap.am.opt_zcopy_align = cap.am.align_mtu = 1;
  cap.am.max_hdr = kHeader;
  cap.am.max_iov = kIov;
  cap.tag.recv = {.min_recv = 0, .max_zcopy = kAnyLength, .max_iov = 1, .max_outstanding = 64};
  cap.tag.eager = {kShort, kBcopy, kZcopy, kIov};
  cap.tag.rndv = {.max_zcopy = kAnyLength, .max_hdr = kHeader, .max_iov = 1};
}

void fill_atomics(uct_iface_attr_t& attributes) {
  constexpr std::uint64_t kPosts = UCS_BIT(UCT_ATOMIC_OP_ADD) | UCS_BIT(UCT_ATOMIC_OP_AND) |
                                   UCS_BIT(UCT_ATOMIC_OP_OR) | UCS_BIT(UCT_ATOMIC_OP_XOR);
  constexpr std::uint64_t kFetches =
      kPosts | UCS_BIT(UCT_ATOMIC_OP_SWAP) | UCS_BIT(UCT_ATOMIC_OP_CSWAP);
  attributes.cap.atomic32.op_flags = attributes.cap.atomic64.op_flags = kPosts;
  attributes.cap.atomic32.fop_flags = attributes.cap.atomic64.fop_flags = kFetches;
}

// As gdr_copy and cuda_copy, whose operations UCX calls inside those of other transports.
constexpr std::uint64_t kCopyFlags = UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_GET_SHORT |
                                     UCT_IFACE_FLAG_PUT_ZCOPY | UCT_IFACE_FLAG_GET_ZCOPY |
                                     UCT_IFACE_FLAG_PENDING | UCT_IFACE_FLAG_CONNECT_TO_IFACE;

ucs_status_t query(uct_iface_h iface, uct_iface_attr_t* attributes) {
  const Flavour& flavour = *interface_of(iface).flavour;
  std::memset(attributes, 0, sizeof *attributes);
  attributes->cap.flags =
      UCT_IFACE_FLAG_AM_SHORT | UCT_IFACE_FLAG_AM_BCOPY | UCT_IFACE_FLAG_AM_ZCOPY |
      UCT_IFACE_FLAG_PUT_SHORT | UCT_IFACE_FLAG_PUT_BCOPY | UCT_IFACE_FLAG_PUT_ZCOPY |
      UCT_IFACE_FLAG_GET_SHORT | UCT_IFACE_FLAG_GET_BCOPY | UCT_IFACE_FLAG_GET_ZCOPY |
      UCT_IFACE_FLAG_ATOMIC_DEVICE | UCT_IFACE_FLAG_PENDING | UCT_IFACE_FLAG_CB_SYNC |
      UCT_IFACE_FLAG_CB_ASYNC | UCT_IFACE_FLAG_EP_CHECK | UCT_IFACE_FLAG_ERRHANDLE_PEER_FAILURE |
      kBetweenHosts |
      (flavour.to_endpoint ? UCT_IFACE_FLAG_CONNECT_TO_EP : UCT_IFACE_FLAG_CONNECT_TO_IFACE);
  if (flavour.tags) {
    attributes->cap.flags |= UCT_IFACE_FLAG_TAG_EAGER_SHORT | UCT_IFACE_FLAG_TAG_EAGER_BCOPY |
                             UCT_IFACE_FLAG_TAG_EAGER_ZCOPY | UCT_IFACE_FLAG_TAG_RNDV_ZCOPY;
  }
  fill_limits(*attributes);
  if (flavour.copies) {
    attributes->cap.flags = kCopyFlags;
    attributes->cap.put.max_short = attributes->cap.get.max_short = UINT_MAX;
  } else {
    fill_atomics(*attributes);
  }
  attributes->device_addr_len = sizeof(DeviceAddress);
  attributes->iface_addr_len = flavour.to_endpoint ? 0 : sizeof(InboxAddress);
  attributes->ep_addr_len = flavour.to_endpoint ? sizeof(EndpointAddress) : 0;
  if (!flavour.copies) attributes->overhead = 50e-9;  // UCX insists: nothing is received
  attributes->bandwidth = {.dedicated = 0, .shared = 10e9};
  attributes->latency = {1e-6, 0};
  attributes->priority = 10;
  attributes->max_num_eps = SIZE_MAX;
  attributes->dev_num_paths = 1;
  return UCS_OK;
}

ucs_status_t get_device_address(uct_iface_h iface, uct_device_addr_t* address) {
  std::memcpy(address, &interface_of(iface).device_address, sizeof(DeviceAddress));
  return UCS_OK;
}

ucs_status_t get_address(uct_iface_h iface, uct_iface_addr_t* address) {
  const Interface& interface = interface_of(iface);
  if (!interface.flavour->to_endpoint) {
    std::memcpy(address, &interface.inbox->address(), sizeof(InboxAddress));
  }
  return UCS_OK;
}

// Each device is a network of its own, as the rails of a cluster are. Copies stay in their process.
int is_reachable(const uct_iface_h iface, const uct_device_addr_t* device,
                 const uct_iface_addr_t* address) {
  const Interface& interface = interface_of(iface);
  if (interface.flavour->copies) {
    InboxAddress its;
    std::memcpy(&its, address, sizeof its);
    if (its.pid != getpid()) return 0;
  }
  return std::memcmp(device, &interface.device_address, sizeof(DeviceAddress)) == 0;
}

unsigned progress_interface(uct_iface_h iface) { return interface_of(iface).progress(); }

void enable_progress(uct_iface_h iface, unsigned flags) {
  Interface& interface = interface_of(iface);
  interface.progress_flags |= flags & (UCT_PROGRESS_SEND | UCT_PROGRESS_RECV);
  uct_worker_progress_register_safe(
      static_cast<uct_worker_h>(interface.worker),
      [](void* argument) { return progress_interface(static_cast<uct_iface_h>(argument)); },
      &interface.super, UCS_CALLBACKQ_FLAG_FAST, &interface.progress_id);
}

void disable_progress(uct_iface_h iface, unsigned flags) {
  Interface& interface = interface_of(iface);
  interface.progress_flags &= ~flags;
  if (interface.progress_flags == 0) {
    uct_worker_progress_unregister_safe(static_cast<uct_worker_h>(interface.worker),
                                        &interface.progress_id);
  }
}

ucs_status_t flush_interface(uct_iface_h iface, unsigned flags, uct_completion_t* completion) {
  return interface_of(iface).flush(Operation::iface_flush, nullptr,
                                   (flags & UCT_FLUSH_FLAG_CANCEL) != 0, completion);
}

void close_interface(uct_iface_h iface) {
  Interface& interface = interface_of(iface);
  uct_worker_progress_unregister_safe(static_cast<uct_worker_h>(interface.worker),
                                      &interface.progress_id);
  delete &interface;
}

void release_descriptor(uct_recv_desc_t*, void* descriptor) {
  std::free(static_cast<char*>(descriptor) - sizeof(void*));
}

DeviceAddress address_of(const std::string& device) {
  struct stat status {};
  stat("/proc/self/ns/pid", &status);
  return {status.st_ino, std::hash<std::string>{}(device)};
}

void take_callbacks(Interface& interface, const uct_iface_params_t& params) {
  const auto has = [&](std::uint64_t field) { return (params.field_mask & field) != 0; };
  if (has(UCT_IFACE_PARAM_FIELD_RX_HEADROOM)) interface.headroom = params.rx_headroom;
  if (has(UCT_IFACE_PARAM_FIELD_ERR_HANDLER)) interface.on_error = params.err_handler;
  if (has(UCT_IFACE_PARAM_FIELD_ERR_HANDLER_ARG)) {
    interface.on_error_argument = params.err_handler_arg;
  }
  if (has(UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB)) interface.on_eager = params.eager_cb;
  if (has(UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_ARG)) interface.on_eager_argument = params.eager_arg;
  if (has(UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB)) interface.on_rendezvous = params.rndv_cb;
  if (has(UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_ARG)) {
    interface.on_rendezvous_argument = params.rndv_arg;
  }
}

void complete_one(uct_completion_t* completion, ucs_status_t status) {
  if (completion == nullptr) return;
  if (completion->status == UCS_OK) completion->status = status;
  if (--completion->count == 0) completion->func(completion);
}

}  // namespace

ucs_status_t open_interface(uct_md_h md, uct_worker_h worker, const uct_iface_params_t* params,
                            const Flavour& flavour, uct_iface_h* iface) {
  auto interface = std::make_unique<Interface>();
  uct_iface_ops_t& ops = interface->super.ops;
  fill_data_operations(ops);
  fill_endpoint_operations(ops);
  fill_tag_operations(ops);
  ops.iface_flush = flush_interface;
  ops.iface_fence = [](uct_iface_h iface, unsigned) {
    interface_of(iface).fence(nullptr);
    return UCS_OK;
  };
  ops.iface_progress_enable = enable_progress;
  ops.iface_progress_disable = disable_progress;
  ops.iface_progress = progress_interface;
  ops.iface_close = close_interface;
  ops.iface_query = query;
  ops.iface_get_device_address = get_device_address;
  ops.iface_get_address = get_address;
  ops.iface_is_reachable = is_reachable;
  interface->internal_ops = internal_operations<is_connected>();
  interface->md = md;
  interface->worker = worker;
  interface->flavour = &flavour;
  interface->transport = params->mode.device.tl_name;
  interface->device = params->mode.device.dev_name;
  interface->device_address = address_of(interface->device);
  interface->progress_id = UCS_CALLBACKQ_ID_NULL;
  interface->release.cb = release_descriptor;
  interface->inbox = Inbox::make();
  if (interface->inbox == nullptr) return UCS_ERR_NO_MEMORY;
  take_callbacks(*interface, *params);
  for (unsigned id = 0; id < UCT_AM_ID_MAX; ++id) {
    uct_iface_set_am_handler(&interface->super, static_cast<std::uint8_t>(id), nullptr, nullptr, 0);
  }
  *iface = &interface.release()->super;
  return UCS_OK;
}

// --- progress ------------------------------------------------------------------------------------

unsigned Interface::progress() {
  ++progressed;
  return receive() + complete() + dispatch();
}

unsigned Interface::receive() {
  constexpr unsigned kAtOnce = 16;
  unsigned count = 0;
  for (; count < kAtOnce; ++count) {
    std::optional<Message> message = inbox->pop();
    if (!message) break;
    if (message->head.kind == Kind::active_message) {
      deliver_active_message(*this, *message);
    } else {
      receive_tagged(*this, *message);
    }
  }
  return count;
}

ucs_status_t hand_over(Interface& interface, const Message& message,
                       const std::function<ucs_status_t(void* data)>& receiver) {
  const std::size_t bytes = message.data.size();
  auto* memory = static_cast<char*>(std::malloc(sizeof(void*) + interface.headroom + bytes + 1));
  char* descriptor = memory + sizeof(void*);
  char* data = descriptor + interface.headroom;
  uct_recv_desc(descriptor) = &interface.release;
  std::copy(message.data.begin(), message.data.end(), data);
  const ucs_status_t status = receiver(data);
  if (status != UCS_INPROGRESS) release_descriptor(&interface.release, descriptor);
  return status;
}

void deliver_active_message(Interface& interface, Message& message) {
  const Head& head = message.head;
  const auto& handler = interface.am[head.am_id];
  oracle::Row row = interface.row("arrival");
  row.bytes = head.bytes;
  row.id = head.am_id;
  oracle::note(row);
  if (head.in_descriptor) {
    hand_over(interface, message, [&](void* data) {
      return handler.cb(handler.arg, data, head.bytes, UCT_CB_PARAM_FLAG_DESC);
    });
  } else {
    handler.cb(handler.arg, message.data.data(), head.bytes, 0);
  }
}

bool Interface::outstanding(const Endpoint* endpoint) const {
  const auto is_its = [&](const auto& open) {
    return endpoint == nullptr || open.endpoint == endpoint;
  };
  return std::any_of(late.begin(), late.end(), is_its) ||
         std::any_of(rendezvous.begin(), rendezvous.end(), is_its);
}

unsigned Interface::complete() {
  unsigned count = 0;
  for (bool found = true; found;) {
    found = false;
    for (auto i = late.begin(); i != late.end(); ++i) {
      const bool waits = i->after_others && std::any_of(late.begin(), i, [&](const Late& earlier) {
                           return i->endpoint == nullptr || earlier.endpoint == i->endpoint;
                         });
      if (i->due > progressed || waits) continue;
      Late ended = std::move(*i);
      late.erase(i);
      finish(ended);  // may post anew, so the search starts again
      found = true;
      ++count;
      break;
    }
  }
  return count;
}

void Interface::finish(Late& ended) {
  ucs_status_t status = ended.verdict.status;
  if (status == UCS_OK && ended.move) status = ended.move();
  oracle::note_completion(ended.row, status, ended.verdict.on_thread);
  if (ended.verdict.on_thread) {
    std::thread(complete_one, ended.completion, status).join();
  } else {
    complete_one(ended.completion, status);
  }
  const bool there = std::find(endpoints.begin(), endpoints.end(), ended.endpoint) !=
                     endpoints.end();  // else the completion destroyed it
  if (ended.verdict.fails_endpoint && there) ended.endpoint->fail(status);
}

void Interface::fence(const Endpoint* endpoint) {
  for (Late& one : late) {
    const bool is_its =
        one.endpoint != nullptr && (endpoint == nullptr || one.endpoint == endpoint);
    if (is_its && one.verdict.status == UCS_OK && one.move) {
      one.verdict.status = one.move();
      one.move = nullptr;
    }
  }
}

void Interface::cancel(const Endpoint* endpoint, ucs_status_t status) {
  for (Late& one : late) {
    if (endpoint == nullptr || one.endpoint == endpoint) {
      one.verdict = {.status = status};
      one.due = 0;
    }
  }
}

unsigned Interface::dispatch() {
  unsigned count = 0;
  const std::list<Endpoint*> now = endpoints;  // a callback may make and destroy endpoints
  for (Endpoint* endpoint : now) {
    while (std::find(endpoints.begin(), endpoints.end(), endpoint) != endpoints.end() &&
           !endpoint->pending.empty() && progressed >= endpoint->blocked_until &&
           progressed >= endpoint->usable_from) {
      uct_pending_req_t* request = endpoint->pending.front();
      endpoint->pending.pop_front();
      dispatching = endpoint;
      const ucs_status_t status = request->func(request);
      dispatching = nullptr;
      oracle::Row row = this->row("pending_dispatch");
      row.endpoint = endpoint;
      row.status = status;
      oracle::note(row);
      ++count;
      if (status != UCS_OK) {
        endpoint->pending.push_front(request);
        break;
      }
    }
  }
  return count;
}

ucs_status_t Interface::flush(Operation operation, Endpoint* endpoint, bool cancels,
                              uct_completion_t* completion) {
  oracle::Row row = this->row(name_of(operation));
  row.endpoint = endpoint;
  row.tracked = completion != nullptr;
  Verdict verdict = endpoint != nullptr ? endpoint->admit(operation) : judge(operation);
  if (verdict.status == UCS_ERR_NO_RESOURCE ||
      (verdict.status != UCS_OK && verdict.progress == 0)) {
    row.status = verdict.status;
    oracle::note(row);
    return verdict.status;
  }
  if (cancels) cancel(endpoint, UCS_ERR_CANCELED);
  if (verdict.progress == 0 && !outstanding(endpoint)) {
    oracle::note(row);
    return UCS_OK;
  }
  row.status = UCS_INPROGRESS;
  const std::size_t at = oracle::note(row);
  if (endpoint != nullptr || completion != nullptr) {  // else the caller asks again
    late.push_back(
        {++posted, endpoint, progressed + verdict.progress, true, verdict, {}, completion, at});
  }
  return UCS_INPROGRESS;
}

}  // namespace scripted

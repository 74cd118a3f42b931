// Tag offload, the receiving side: receives that the layer above posts to an interface, and their
// matches. While the interface has a receive, the callbacks in its uct_tag_context_t are ours. They
// are swapped in place: the transport keeps data in the structure, and the layer above finds its
// request by the structure's address.
#include <string.h>

#include "event-log/recorder/address_map.hpp"
#include "uct-shim/arrivals.hpp"
#include "uct-shim/operations.hpp"

namespace uctrace::uct {

using log::ArrivalKind;
using log::UctOp;

namespace {

struct Posted {
  decltype(uct_tag_context_t::completed_cb) completed;
  decltype(uct_tag_context_t::rndv_cb) rendezvous;
  log::Id operation;
  log::Id origin;
  log::Origin origin_kind;
  std::uint16_t interface;
};

// A receive that finds no place is posted with its owner's callbacks and counted as untracked.
constinit log::AddressMap<Posted, 1 << 14> posted;

void on_matched(uct_tag_context_t* self, uct_tag_t tag, std::uint64_t immediate, std::size_t length,
                void* inline_data, ucs_status_t status);
void on_rendezvous(uct_tag_context_t* self, uct_tag_t tag, const void* header,
                   unsigned header_length, ucs_status_t status, unsigned flags);

bool put_in_between(uct_tag_context_t* context, log::Id operation, const Interface& interface) {
  auto* entry = operation != 0 ? posted.claim(context) : nullptr;
  if (entry == nullptr) {
    return false;
  }
  // It already has ours if nobody saw the receive end and its owner posts it again.
  const bool again = context->completed_cb == on_matched;
  const Context& origin = thread_state.context;
  entry->value = {again ? entry->value.completed : context->completed_cb,
                  again ? entry->value.rendezvous : context->rndv_cb,
                  operation,
                  origin.origin,
                  origin.kind,
                  interface.id};
  context->completed_cb = on_matched;
  context->rndv_cb = on_rendezvous;
  return true;
}

bool take_out(uct_tag_context_t* context, Posted& value) {
  auto* entry = posted.find(context);
  if (entry == nullptr) {
    return false;
  }
  value = entry->value;
  context->completed_cb = value.completed;
  context->rndv_cb = value.rendezvous;
  posted.free(entry);
  return true;
}

void record_end(const Posted& receive, ucs_status_t status) {
  if (log::Lane* lane = log::lane()) {
    ++lane->counters().uct_tag_receives_ended;
    record_completion(*lane, receive.operation, status);
  } else {
    log::count_without_lane(log::DropKind::uct);
  }
}

// A receive may be longer than its message, but not shorter: then the message still arrived.
bool took_message(ucs_status_t status) {
  return status == UCS_OK || status == UCS_ERR_MESSAGE_TRUNCATED;
}

void on_matched(uct_tag_context_t* self, uct_tag_t tag, std::uint64_t immediate, std::size_t length,
                void* inline_data, ucs_status_t status) {
  Posted receive;
  if (!take_out(self, receive)) {
    return;  // never happens: only contexts with an entry have our callbacks
  }
  record_end(receive, status);
  if (took_message(status)) {
    Arrived arrived{.bytes = length,
                    .interface = receive.interface,
                    .kind = ArrivalKind::tag_matched,
                    .words = static_cast<std::uint8_t>(immediate != 0 ? 2 : 1),
                    .header = {tag, immediate}};
    const Delivery delivery(arrived);
    receive.completed(self, tag, immediate, length, inline_data, status);
  } else {
    const ContextScope scope({receive.origin, receive.origin_kind, log::Route::completion});
    receive.completed(self, tag, immediate, length, inline_data, status);
  }
}

void on_rendezvous(uct_tag_context_t* self, uct_tag_t tag, const void* header,
                   unsigned header_length, ucs_status_t status, unsigned flags) {
  Posted receive;
  if (!take_out(self, receive)) {
    return;  // never happens, as above
  }
  record_end(receive, status);
  if (status == UCS_OK) {
    Arrived arrived{.bytes = header_length,
                    .interface = receive.interface,
                    .kind = ArrivalKind::tag_rndv_matched,
                    .am_id = static_cast<std::uint8_t>(wire::AmId::rndv_rts),
                    .header = {}};
    const std::size_t available = header_length / sizeof arrived.header[0];
    arrived.words = static_cast<std::uint8_t>(
        available < log::kMaxHeaderWords ? available : log::kMaxHeaderWords);
    wire::copy_words(arrived.header, header, arrived.words);
    const Delivery delivery(arrived);
    receive.rendezvous(self, tag, header, header_length, status, flags);
  } else {
    const ContextScope scope({receive.origin, receive.origin_kind, log::Route::completion});
    receive.rendezvous(self, tag, header, header_length, status, flags);
  }
}

}  // namespace

ucs_status_t tag_recv_zcopy(uct_iface_h iface, uct_tag_t tag, uct_tag_t mask, const uct_iov_t* iov,
                            std::size_t count, uct_tag_context_t* context) {
  Post post(iface, nullptr, UctOp::tag_recv_zcopy);
  if (post.passes_through()) {
    return post.original().iface_tag_recv_zcopy(iface, tag, mask, iov, count, context);
  }
  const std::uint64_t words[] = {tag, mask, total_bytes(iov, count)};
  // Before it is posted: the message may already be there.
  const bool tracked = put_in_between(context, post.identify(), post.interface());
  if (!tracked) {
    post.forget_identity();
  }
  const ucs_status_t status =
      post.original().iface_tag_recv_zcopy(iface, tag, mask, iov, count, context);
  if (log::Lane* lane = log::lane(); status >= 0 && lane != nullptr) {
    ++(tracked ? lane->counters().uct_tag_receives : lane->counters().uct_untracked);
  }
  if (Posted unused; tracked && status < 0) {
    take_out(context, unused);
  }
  return post.done(status,
                   {.local = first_address(iov, count), .header_words = 3, .header = words});
}

// A forced cancel calls no callback. Otherwise the receive's callback runs later.
ucs_status_t tag_recv_cancel(uct_iface_h iface, uct_tag_context_t* context, int force) {
  Post post(iface, nullptr, UctOp::tag_recv_cancel);
  if (post.passes_through()) {
    return post.original().iface_tag_recv_cancel(iface, context, force);
  }
  const ucs_status_t status = post.original().iface_tag_recv_cancel(iface, context, force);
  if (Posted receive; status == UCS_OK && force != 0 && take_out(context, receive)) {
    record_end(receive, UCS_ERR_CANCELED);
  }
  return post.done(status, {});
}

}  // namespace uctrace::uct

#include "uct-shim/unexpected_tags.hpp"

#include <stddef.h>
#include <string.h>

#include "uct-shim/arrivals.hpp"

namespace uctrace::uct {

using log::ArrivalKind;

namespace {

constexpr std::size_t kMost = 1024;  // open interfaces; those beyond keep their own callbacks
constinit UnexpectedTags pool[kMost]{};

ucs_status_t on_eager(void* argument, void* data, std::size_t length, unsigned flags, uct_tag_t tag,
                      std::uint64_t immediate, void** context) {
  const auto* tags = static_cast<const UnexpectedTags*>(argument);
  if (tags->interface == nullptr) {
    return tags->eager(tags->eager_argument, data, length, flags, tag, immediate, context);
  }
  // Immediate data requests one answer for all fragments.
  const bool asks = immediate != 0 && (flags & UCT_CB_PARAM_FLAG_FIRST) != 0;
  const Arrived arrived{.bytes = length,
                        .interface = tags->interface->id,
                        .kind = ArrivalKind::tag_eager_unexpected,
                        .words = static_cast<std::uint8_t>(asks ? 2 : 1),
                        .header = {tag, immediate}};
  const Delivery delivery(arrived);
  return tags->eager(tags->eager_argument, data, length, flags, tag, immediate, context);
}

// With an address (the sender's buffer, offered by its interface), the header has the ids. Without
// one, the header is a complete RTS.
ucs_status_t on_rendezvous(void* argument, unsigned flags, std::uint64_t tag, const void* header,
                           unsigned header_length, std::uint64_t remote, std::size_t length,
                           const void* rkey) {
  const auto* tags = static_cast<const UnexpectedTags*>(argument);
  const auto hand_up = [&] {
    return tags->rendezvous(tags->rendezvous_argument, flags, tag, header, header_length, remote,
                            length, rkey);
  };
  if (tags->interface == nullptr) {
    return hand_up();
  }
  Arrived arrived{.bytes = header_length,
                  .interface = tags->interface->id,
                  .kind = ArrivalKind::tag_rndv_unexpected,
                  .am_id = static_cast<std::uint8_t>(wire::AmId::rndv_rts),
                  .header = {tag, 0, 0, remote, length}};
  const std::size_t words = header_length / sizeof arrived.header[0];
  if (remote != 0) {
    wire::copy_words(arrived.header + 1, header, words >= 2 ? 2 : words != 0);
    arrived.words = log::kMaxHeaderWords;
  } else {
    arrived.words =
        static_cast<std::uint8_t>(words < log::kMaxHeaderWords ? words : log::kMaxHeaderWords);
    wire::copy_words(arrived.header, header, arrived.words);
  }
  const Delivery delivery(arrived);
  return hand_up();
}

UnexpectedTags* take_free() {
  for (UnexpectedTags& tags : pool) {
    if (!__atomic_test_and_set(&tags.in_use, __ATOMIC_ACQUIRE)) {
      return &tags;
    }
  }
  return nullptr;
}

// No release up to 1.23 has more fields; programs built with UCX before 1.13 lack the last one.
constexpr std::uint64_t kKnownFields = (std::uint64_t{UCT_IFACE_PARAM_FIELD_FEATURES} << 1) - 1;

void copy_params(const uct_iface_params_t& from, uct_iface_params_t& to) {
  memcpy(static_cast<void*>(&to), &from, offsetof(uct_iface_params_t, features));
  to.features = (from.field_mask & UCT_IFACE_PARAM_FIELD_FEATURES) != 0 ? from.features : 0;
}

}  // namespace

UnexpectedTags* stand_in(const uct_iface_params_t& params, uct_iface_params_t& own) {
  constexpr std::uint64_t kEager =
      UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_CB | UCT_IFACE_PARAM_FIELD_HW_TM_EAGER_ARG;
  constexpr std::uint64_t kRendezvous =
      UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_CB | UCT_IFACE_PARAM_FIELD_HW_TM_RNDV_ARG;
  const bool complete = (params.field_mask & (kEager | kRendezvous)) == (kEager | kRendezvous) &&
                        params.eager_cb != nullptr && params.rndv_cb != nullptr;
  UnexpectedTags* tags =
      complete && (params.field_mask & ~kKnownFields) == 0 ? take_free() : nullptr;
  if (tags == nullptr) {
    return nullptr;
  }
  tags->eager = params.eager_cb;
  tags->eager_argument = params.eager_arg;
  tags->rendezvous = params.rndv_cb;
  tags->rendezvous_argument = params.rndv_arg;
  tags->interface = nullptr;
  copy_params(params, own);
  own.eager_cb = on_eager;
  own.eager_arg = tags;
  own.rndv_cb = on_rendezvous;
  own.rndv_arg = tags;
  return tags;
}

void release(UnexpectedTags* tags) {
  if (tags != nullptr) {
    __atomic_clear(&tags->in_use, __ATOMIC_RELEASE);
  }
}

}  // namespace uctrace::uct

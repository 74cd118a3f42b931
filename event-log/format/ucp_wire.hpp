// What the UCP layer writes in front of its active messages on the wire: the ids of UCX 1.11-1.23
// (src/ucp/core/ucp_types.h) and the sizes of their headers. The shims keep the first words of a
// header with an operation or arrival. The merger reads them to separate payload from header bytes,
// and to join the fragments of one message by the ids in them. The values are facts of UCX's
// protocols, and valid only for interfaces that a UCP worker opened.
#pragma once

#include <cstddef>
#include <cstdint>

namespace uctrace::wire {

enum class AmId : std::uint8_t {
  wireup = 1,
  eager_only = 2,
  eager_first = 3,
  eager_middle = 4,
  eager_sync_only = 6,
  eager_sync_first = 7,
  eager_sync_ack = 8,
  rndv_rts = 9,
  rndv_ats = 10,
  rndv_rtr = 11,
  rndv_data = 12,
  offload_sync_ack = 14,
  stream_data = 15,
  rndv_atp = 16,
  put = 17,
  get_request = 18,
  get_reply = 19,
  atomic_request = 20,
  atomic_reply = 21,
  completion = 22,
  am_single = 23,
  am_first = 24,
  am_middle = 25,
  am_single_reply = 26,
  am_first_psn = 27,
  am_middle_psn = 28,
};
inline constexpr std::size_t kAmIds = 32;

// The id that identifies the kind of message. From UCX 1.21 on, fragments between endpoints with
// failover (UCP_ERR_HANDLING_MODE_FAILOVER) have ids of their own, and are otherwise the same.
constexpr AmId kind_of(std::uint8_t am_id) {
  const auto id = static_cast<AmId>(am_id);
  if (id == AmId::am_first_psn) return AmId::am_first;
  return id == AmId::am_middle_psn ? AmId::am_middle : id;
}

// The message of UCP's wire-up protocol by which it asks whether a peer is alive, if the transport
// cannot (ucp_wireup_msg_t::type; UCX 1.11 to 1.23).
inline constexpr std::uint8_t kWireupEndpointCheck = 4;

// How the messages of one AM id look. `header_bytes` in front of the payload; `control` messages
// carry no payload at all. `words` of the header are worth keeping:
//   eager_only, eager_sync_only   tag [, ep_id, req_id]
//   eager_first, eager_sync_first tag, total length, message id [, ep_id, req_id]
//   eager_middle                  message id, offset
//   rndv_rts                      tag, ep_id, req_id, address, length
//   rndv_rtr                      sender's req_id, receiver's req_id, address, length, offset
//   rndv_data                     receiver's req_id, offset
//   rndv_ats, rndv_atp, sync_ack  req_id of the side that waits for it
//   offload_sync_ack              ep_id, tag of the message
//   wireup                        kind of message (kWireupEndpointCheck), in its first byte
//   put                           address, ep_id
//   get_request                   address, length, ep_id, req_id
//   get_reply                     req_id, offset
//   atomic_request                address, ep_id, req_id (all ones: no reply is wanted)
//   atomic_reply                  req_id
//   completion                    ep_id, of the side that waits for it
//   am_single, am_first           handler id | flags << 16 | length of the user's header << 32,
//                                 digest
//   am_middle                     offset, digest
// ep_id is the receiver's own name for its endpoint back to the sender. Active messages of the user
// end with the user's header and a footer, which counts as header bytes: ep_id; message id, ep_id,
// total length; message id, ep_id. `digest`: the last word is not one of the header but a digest of
// both (uct-shim/am_header.hpp).
struct AmShape {
  std::uint8_t header_bytes;
  std::uint8_t words;
  bool control;
  bool digest = false;
};

namespace detail {

constexpr AmShape make_shape(std::uint8_t am_id) {
  switch (kind_of(am_id)) {
    case AmId::eager_only:
      return {8, 1, false};
    case AmId::eager_first:
      return {24, 3, false};
    case AmId::eager_middle:
      return {16, 2, false};
    case AmId::eager_sync_only:
      return {24, 3, false};
    case AmId::eager_sync_first:
      return {40, 5, false};
    case AmId::rndv_data:
      return {16, 2, false};
    case AmId::stream_data:
      return {8, 1, false};
    case AmId::am_single:
      return {8, 2, false, true};
    case AmId::am_single_reply:
      return {8 + 8, 2, false, true};
    case AmId::am_first:
      return {8 + 24, 2, false, true};
    case AmId::am_middle:
      return {8 + 16, 2, false, true};
    case AmId::put:
      return {20, 2, false};
    case AmId::get_request:
      return {0, 4, true};
    case AmId::get_reply:
      return {16, 2, false};
    case AmId::atomic_request:
      return {26, 3, false};
    case AmId::atomic_reply:
      return {0, 1, true};
    case AmId::rndv_rts:
      return {0, 5, true};
    case AmId::rndv_rtr:
      return {0, 5, true};
    case AmId::rndv_ats:
    case AmId::rndv_atp:
    case AmId::eager_sync_ack:
    case AmId::completion:
      return {0, 1, true};
    case AmId::offload_sync_ack:
      return {0, 2, true};
    case AmId::wireup:
      return {0, 1, true};
    default:
      return {0, 1, false};
  }
}

// A table, because the record path looks up every message: the switch costs 15 ns.
struct Shapes {
  AmShape of[256];
  constexpr Shapes() : of{} {
    for (unsigned id = 0; id < 256; ++id) {
      of[id] = make_shape(static_cast<std::uint8_t>(id));
    }
  }
};
inline constexpr Shapes kShapes;

}  // namespace detail

// Copies the first `count` words (at most kMaxWords) of a header with any alignment. memcpy of so
// few becomes a string instruction, which takes 20 ns to start.
inline constexpr std::size_t kMaxWords = 5;
inline void copy_words(std::uint64_t* to, const void* from, std::size_t count) {
  const auto copy = [&](std::size_t i) {
    __builtin_memcpy(to + i, static_cast<const char*>(from) + 8 * i, 8);
  };
  if (count == 1) [[likely]] {
    copy(0);
    return;
  }
  switch (count) {
    case 5:
      copy(4);
      [[fallthrough]];
    case 4:
      copy(3);
      [[fallthrough]];
    case 3:
      copy(2);
      [[fallthrough]];
    case 2:
      copy(1);
      [[fallthrough]];
    case 1:
      copy(0);
      [[fallthrough]];
    default:
      break;
  }
}

constexpr const AmShape& shape_of(std::uint8_t am_id) { return detail::kShapes.of[am_id]; }

// The same for a release of UCX. A release whose headers do not name places (UCX 1.11) answers a
// get with only req_id in front of the data. Its am_middle has the message's id in front of the
// offset, so the offset is not kept. Only the order in which such messages are sent shows where
// their bytes belong.
constexpr AmShape shape_of(std::uint8_t am_id, bool names_places) {
  const bool shorter = !names_places && kind_of(am_id) == AmId::get_reply;
  return shorter ? AmShape{8, 1, false} : shape_of(am_id);
}

// The user's header bytes in a fragment of the user's active messages, from its first word.
constexpr std::uint64_t program_header_bytes(std::uint8_t am_id, std::uint64_t first_word) {
  return kind_of(am_id) == AmId::am_middle ? 0 : first_word >> 32;
}

// Whether a message connects an endpoint.
constexpr bool connects(std::uint8_t am_id) {
  return am_id == static_cast<std::uint8_t>(AmId::wireup);
}

}  // namespace uctrace::wire

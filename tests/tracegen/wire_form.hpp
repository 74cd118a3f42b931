// What senders and receivers of tagged messages share: how messages look on the wire.
#pragma once

#include "tests/tracegen/two_sided.hpp"

namespace uctrace::tracegen {

using log::UctOp;
using wire::AmId;

inline constexpr std::int64_t kArrivalNs = 200;  // from one fragment's arrival to the next
inline constexpr std::int64_t kHandlerNs = 100;
inline constexpr std::uint64_t kRtsBytes = 50, kRtrBytes = 58, kAckBytes = 17;

inline std::int64_t fragment_at(std::uint64_t i, std::int64_t apart) {
  return static_cast<std::int64_t>(i) * apart;
}

inline AmId eager_id(const Message& m, std::uint64_t fragment) {
  if (m.way == Way::sync_bcopy) return AmId::eager_sync_only;
  if (m.way != Way::multi_bcopy && m.way != Way::multi_zcopy) return AmId::eager_only;
  return fragment == 0 ? AmId::eager_first : AmId::eager_middle;
}

// As protocols v2 name it; empty for the short way, which goes past the selection of protocols, and
// for rendezvous.
inline const char* eager_protocol(Way way) {
  switch (way) {
    case Way::eager_bcopy:
      return "egr/single/bcopy";
    case Way::eager_zcopy:
      return "egr/single/zcopy";
    case Way::multi_bcopy:
      return "egr/multi/bcopy";
    case Way::multi_zcopy:
      return "egr/multi/zcopy";
    case Way::sync_bcopy:
      return "egrsnc/multi/bcopy";
    default:
      return "";
  }
}

inline std::uint64_t header_bytes(AmId id) {
  return wire::shape_of(static_cast<std::uint8_t>(id)).header_bytes;
}

inline std::uint64_t eager_header_bytes(const Message& m, std::uint64_t fragment) {
  return m.offload ? 0 : header_bytes(eager_id(m, fragment));
}

// The same message as an operation of an interface that matches tags.
inline void take_to_interface(const Message& m, UctPost& post) {
  post.op = m.way == Way::eager_short ? UctOp::tag_eager_short
            : m.is_zcopy()            ? UctOp::tag_eager_zcopy
                                      : UctOp::tag_eager_bcopy;
  post.bytes = m.bytes;
  post.am_id = {};
  post.protocol = 0;
}

// Calls use(words) with the header of a fragment of an eager message.
template <typename Use>
void with_eager_header(const Shape& shape, const Message& m, std::uint64_t fragment,
                       std::uint64_t request, Use use) {
  if (m.offload) {
    if (m.way == Way::sync_bcopy) {
      use({m.tag, shape.ucp_endpoint(m.dst, m.src)});  // immediate data: it wants an answer
    } else {
      use({m.tag});
    }
    return;
  }
  const std::uint64_t message_id = std::uint64_t{0xbd06} << 48 | m.serial;
  switch (eager_id(m, fragment)) {
    case AmId::eager_sync_only:
      use({m.tag, shape.ucp_endpoint(m.dst, m.src), request});
      return;
    case AmId::eager_first:
      use({m.tag, m.bytes, message_id});
      return;
    case AmId::eager_middle:
      use({message_id, fragment_of(m, fragment).offset});
      return;
    default:
      use({m.tag});
  }
}

}  // namespace uctrace::tracegen

// The UCT endpoints of a run, which UCX calls lanes: when each was made, connected and first used,
// and the message that waited for it. log-merger/connections/ makes them; docs/connections.md says
// more.
//
// Times are nanoseconds on the job clock, -1 = not known.
#pragma once

#include <cstdint>

#include "log-merger/model/kinds.hpp"

namespace uctrace {

// The creator of an endpoint.
enum class MadeBy : std::uint8_t {
  program,       // a program that uses UCT itself
  ucp_endpoint,  // the creation of a UCP endpoint
  wireup,        // UCP, later: during wire-up, or on request of the other side
};
const char* name_of(MadeBy);

struct ConnectionRow {
  std::uint32_t process = 0;
  std::int32_t peer_process = -1;
  MadeBy made_by = MadeBy::program;
  bool network = false;  // its device is a network card
  TextId transport = kNoText, device = kNoText, remote_device = kNoText;
  TextId carried = kNoText;  // UCT operations that moved payload over it: "am_bcopy, get_zcopy"
  std::uint64_t ucp_endpoint = 0;        // its UCP endpoint (ucp_ep_h); 0 = none, or not known
  std::int64_t creation_ns = -1;         // duration of its creation
  std::int64_t first_message = -1;       // that used it for data or control; into messages
  std::int64_t waited_ns = 0;            // of that message: from its start until it was connected
  std::uint64_t operations = 0;          // that were posted on it
  std::uint64_t message_operations = 0;  // those that served messages
  std::uint64_t wireup_operations = 0;   // UCP's wire-up
  std::uint64_t payload_bytes = 0;
  std::int64_t t_created_ns = -1;
  std::int64_t t_connected_ns = -1;  // it got the other end's address
  std::int64_t t_first_use_ns = -1;  // an operation of a message was posted on it
  std::int64_t t_closed_ns = -1;     // -1: never
};

}  // namespace uctrace

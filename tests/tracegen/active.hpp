// One active message of UCP, eager and in one operation: the records of its two ends, and the
// truth.
#pragma once

#include "tests/tracegen/process_log.hpp"

namespace uctrace::tracegen {

struct ActiveMessage {
  Message m;  // of its data
  std::uint64_t step = 0;
  std::uint64_t handler = 0, header_bytes = 16;
  std::uint64_t content = 0;                 // a digest of what the program put into it
  std::int64_t sent_ns = 0, arrived_ns = 0;  // by its sender, at its receiver
  bool ambiguous = false;
  bool connected = false;  // over an endpoint made by socket address
  // Where MPI sent it.
  MpiFunction mpi = MpiFunction::none;
  bool has_comm = false;
  Comm comm = Comm::world;
};

// A message that goes in one operation, with `in_front` bytes before its data.
Message in_one(const Shape& shape, Message m, std::uint64_t in_front);

// `arrival`: in whose handler it is sent, 0 = in none.
void send_active(ProcessLog& log, const ActiveMessage& message, log::Id arrival = 0);
// Returns the id of its arrival.
log::Id handle_active(ProcessLog& log, const ActiveMessage& message);

}  // namespace uctrace::tracegen

// What an MPI function does with messages, so its own ones can be recognised.
#pragma once

#include <cstdint>
#include <string_view>

namespace uctrace::merge {

enum class CallKind : std::uint8_t {
  other,  // only drives operations of others
  send,
  receive,
  both,        // Sendrecv
  init,        // makes a persistent request, which has no messages until it is started
  start,       // of persistent requests, or of partitions
  collective,  // blocking, or a call that communicates inside
  nonblocking_collective,
  file,              // I/O: on a communicator that the library made for the file
  nonblocking_file,  // driven by other calls
};

struct CallTraits {
  CallKind kind = CallKind::other;
  // The directions of the call, or of a start of the request that it makes; both: a collective
  // operation, or Sendrecv.
  bool sends = false, receives = false;
  bool partitioned = false;
  bool on_its_context = false;  // all its messages have the context of its communicator
};

CallTraits call_traits(std::string_view function);

}  // namespace uctrace::merge

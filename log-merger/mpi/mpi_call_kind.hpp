// What an MPI function does with messages, so that those can be told which are its own.
#pragma once

#include <cstdint>
#include <string_view>

namespace uctrace::merge {

enum class CallKind : std::uint8_t {
  other,  // only drives what others asked for
  send,
  receive,
  both,        // Sendrecv
  init,        // makes a persistent request, which has no messages before it is started
  start,       // of persistent requests, or of partitions
  collective,  // blocking, or a call that communicates inside
  nonblocking_collective,
  file,              // input and output: on a communicator that the library made for the file
  nonblocking_file,  // which others drive
};

struct CallTraits {
  CallKind kind = CallKind::other;
  // Of what it, or a start of the request that it makes, does; both: a collective operation, or
  // Sendrecv.
  bool sends = false, receives = false;
  bool partitioned = false;
  bool on_its_context = false;  // all of its messages have the context of its communicator
};

CallTraits call_traits(std::string_view function);

}  // namespace uctrace::merge

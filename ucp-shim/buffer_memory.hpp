// Where the buffers of UCP operations lie, and what UCX takes them for: the word that their records
// have while there is a driver of GPUs.
//
// A buffer is asked for after the call, so that a question is no part of it. A list of buffers may
// be the program's again by then, so its parts are asked for before.
#pragma once

#include "event-log/extras.hpp"
#include "event-log/recorder.hpp"
#include "ucp-shim/parameters.hpp"

namespace uctrace::ucp {

struct BufferOf {
  log::Id operation;
  const void* buffer;              // nullptr: it has none
  const RequestParam* parameters;  // nullptr: not known
};

// The first word is for the memory of the buffer. False: there is none, of what has no buffer or is
// not recorded.
bool add_memory(log::Lane& lane, const BufferOf& what, log::ExtraWords& extra);

// Takes note of where the parts of a list lie, until its operation is recorded. Only where there is
// a driver.
class ListMemory {
 public:
  explicit ListMemory(log::Id operation);
  void add(const void* part);
  ~ListMemory();
  ListMemory(const ListMemory&) = delete;
  ListMemory& operator=(const ListMemory&) = delete;

 private:
  log::Lane* lane_;
  log::Id operation_;
  log::MemoryId memory_ = log::kMemoryNotAsked;
};

}  // namespace uctrace::ucp

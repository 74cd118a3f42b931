// Where the buffers of UCP operations lie, and what UCX takes them for: the word that their records
// have while there is a driver of GPUs.
//
// A buffer is asked for after the call, so that a question is no part of it. A list of buffers may
// be the program's again by then, so its parts are asked for before.
#pragma once

#include "event-log/recorder.hpp"
#include "ucp-shim/parameters.hpp"

namespace uctrace::ucp {

struct BufferOf {
  log::Id operation;
  const void* buffer;
  const RequestParam* parameters;  // nullptr: not known
};

// False: none is wanted of what is not recorded, or there is no driver.
bool add_buffer_memory(log::Lane& lane, const BufferOf& what, std::uint64_t& word);

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

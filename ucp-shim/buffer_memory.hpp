// Where the buffers of UCP operations lie, and what UCX takes them for: the word that their records
// have while there is a driver of GPUs.
//
// A buffer is asked for when UCX looks at it and takes it for a device's, for a callback inside the
// call may free it; all others after the call. A list of buffers may be the program's again by
// then, so its parts are asked for before.
#pragma once

#include "event-log/recorder/extras.hpp"
#include "event-log/recorder/recorder.hpp"
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
// a driver. Parts in several allocations of one kind on one device are taken for those of the
// first.
class ListMemory {
 public:
  // Of a longer list it is not known: each part is a question to the driver, in the program's time.
  static constexpr unsigned kMostParts = 64;

  explicit ListMemory(log::Id operation);
  void add(const void* part);
  ~ListMemory();
  ListMemory(const ListMemory&) = delete;
  ListMemory& operator=(const ListMemory&) = delete;

 private:
  log::Lane* lane_;
  log::Id operation_;
  log::MemoryId memory_ = log::kMemoryNotAsked;
  const void* first_ = nullptr;
  unsigned parts_ = 0;
};

}  // namespace uctrace::ucp

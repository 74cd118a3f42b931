// Where the buffers of UCP operations lie, and what kind of memory UCX takes them for. Records have
// this word while there is a GPU driver.
//
// If UCX looks at a buffer and takes it for device memory, we ask for its memory at that moment,
// because a callback inside the call may free it. We ask for all others after the call. By then the
// program may reuse a list of buffers, so we ask for the parts of a list before the call.
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

// Sets the first word to the memory of the buffer. False: there is none, because the operation has
// no buffer or is not recorded.
bool add_memory(log::Lane& lane, const BufferOf& what, log::ExtraWords& extra);

// Notes where the parts of a list lie, until its operation is recorded. Only if there is a driver.
// Parts in several allocations of one kind on one device count as those of the first.
class ListMemory {
 public:
  // The memory of a longer list is not known: each part costs a query to the driver, in the
  // program's time.
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

#include "ucp-shim/buffer_memory.hpp"

#include <algorithm>
#include <bit>

#include "device-attributor/device_attributor.hpp"
#include "ucp-shim/memory_belief.hpp"

namespace uctrace::ucp {

namespace {

using log::Belief;
using log::MemoryId;

// Lists of operations whose call has not returned, on this thread. There is room for as many as
// callbacks may post inside each other.
struct List {
  log::Id operation;
  MemoryId memory;
};
constexpr std::size_t kLists = 8;
struct Lists {
  List kept[kLists];
  std::size_t next;
};
thread_local constinit Lists lists __attribute__((tls_model("initial-exec"))) = {};

MemoryId take_list(log::Id operation) {
  for (List& list : lists.kept) {
    if (list.operation == operation) {
      list.operation = 0;
      return list.memory;
    }
  }
  return log::kMemoryNotAsked;
}

bool is_list(const RequestParam* parameters) {
  if (parameters == nullptr || (parameters->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE) == 0) {
    return false;
  }
  const ucp_datatype_t kind = parameters->datatype & UCP_DATATYPE_CLASS_MASK;
  return kind == UCP_DATATYPE_IOV || kind == kSglDatatype;
}

// The note about a list may be lost. If UCX took a buffer for device memory, we asked for its
// memory during the call. If we did not, the memory may be gone.
MemoryId find_memory_of(log::Lane& lane, const BufferOf& what, const MemoryBelief& belief) {
  if (const MemoryId of_list = take_list(what.operation); of_list != log::kMemoryNotAsked) {
    return of_list;
  }
  if (is_list(what.parameters)) {
    return log::kUnknownMemory;
  }
  if (belief.memory != log::kMemoryNotAsked) {
    return belief.memory;
  }
  const MemoryId own = gpu::memory_of(lane, what.buffer);
  const bool took_for_device =
      (belief.from == log::BeliefFrom::cache || belief.from == log::BeliefFrom::detection) &&
      belief.believed != Belief::host;
  return own == log::kHostMemory && took_for_device ? log::kUnknownMemory : own;
}

// What the program states is taken. If it states that it does not know, UCX looks.
MemoryBelief find_belief(const BufferOf& what) {
  MemoryBelief belief;
  if (what.parameters != nullptr &&
      (what.parameters->op_attr_mask & UCP_OP_ATTR_FIELD_MEMORY_TYPE) != 0) {
    belief = belief_of_type(what.parameters->memory_type);
  }
  return belief.believed != Belief::not_asked ? belief : belief_of(what.operation, what.buffer);
}

}  // namespace

bool add_memory(log::Lane& lane, const BufferOf& what, log::ExtraWords& extra) {
  extra.has_memory = what.buffer != nullptr && gpu::active() && !lane.leaves_out();
  if (!extra.has_memory) {
    return false;
  }
  const MemoryBelief belief = find_belief(what);
  const MemoryId own = find_memory_of(lane, what, belief);
  const log::OperationMemory memory{own, belief.believed, belief.device, belief.from, 0};
  extra.words[0] = std::bit_cast<std::uint64_t>(memory);
  return true;
}

ListMemory::ListMemory(log::Id operation) : lane_(log::lane()), operation_(operation) {}

void ListMemory::add(const void* part) {
  if (lane_ == nullptr || memory_ == log::kSeveralMemories || lane_->leaves_out()) {
    return;
  }
  if (parts_++ == kMostParts) {
    memory_ = log::kSeveralMemories;
    return;
  }
  const MemoryId memory = gpu::memory_of(*lane_, part);
  if (memory_ == log::kMemoryNotAsked) {
    memory_ = memory;
    first_ = part;
  } else if (memory_ != memory) {
    const bool both_known = std::min(memory_, memory) >= log::kFirstDeviceMemory;
    memory_ = both_known && gpu::is_same_place(first_, part) ? memory_ : log::kSeveralMemories;
  }
}

ListMemory::~ListMemory() {
  if (memory_ != log::kMemoryNotAsked) {
    lists.kept[lists.next++ % kLists] = {operation_, memory_};
  }
}

}  // namespace uctrace::ucp

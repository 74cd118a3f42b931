#include "ucp-shim/buffer_memory.hpp"

#include <bit>

#include "device-attributor/device_attributor.hpp"
#include "ucp-shim/memory_belief.hpp"

namespace uctrace::ucp {

namespace {

using log::Belief;
using log::MemoryId;

// Lists of operations whose call has not returned, on this thread. As many as may be posted inside
// each other, by callbacks.
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

// UCX asked the same driver inside the call: what it found there is gone since, with the callback
// that told of the end. What it was is not known.
bool is_gone(MemoryId own, const MemoryBelief& belief) {
  return own == log::kHostMemory && belief.from == log::BeliefFrom::detection &&
         belief.believed != Belief::host;
}

// What the program says goes; where it says that it does not know, UCX looks.
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
  MemoryId own = take_list(what.operation);
  if (own == log::kMemoryNotAsked) {
    own = gpu::memory_of(lane, what.buffer);
    own = is_gone(own, belief) ? log::kUnknownMemory : own;
  }
  const log::OperationMemory memory{own, belief.believed, belief.device, belief.from, 0};
  extra.words[0] = std::bit_cast<std::uint64_t>(memory);
  return true;
}

ListMemory::ListMemory(log::Id operation) : lane_(log::lane()), operation_(operation) {}

void ListMemory::add(const void* part) {
  if (lane_ == nullptr || memory_ == log::kSeveralMemories) {
    return;
  }
  const MemoryId memory = gpu::memory_of(*lane_, part);
  memory_ = memory_ == log::kMemoryNotAsked || memory_ == memory ? memory : log::kSeveralMemories;
}

ListMemory::~ListMemory() {
  if (memory_ != log::kMemoryNotAsked) {
    lists.kept[lists.next++ % kLists] = {operation_, memory_};
  }
}

}  // namespace uctrace::ucp

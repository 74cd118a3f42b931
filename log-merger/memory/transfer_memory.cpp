// If a transport cannot reach memory, UCX first copies the data into its own memory, and out of it
// at the other end. Copies within a process have known memory at both ends. The transfer to the
// other process takes the data from the target of such a copy, else from the program's buffer, and
// delivers it to the source of the next copy, else to the program's buffer.
#include "log-merger/memory/transfer_memory.hpp"

#include <algorithm>
#include <optional>

#include "log-merger/attribute/payload.hpp"
#include "log-merger/attribute/wire_view.hpp"
#include "log-merger/memory/memory.hpp"

namespace uctrace::merge {

namespace {

const ProcessLog& log_of(const Job& job, ProcessIndex process) { return job.logs[process]; }

MemoryPlace local_of(const Job& job, const UctOp& op) {
  return memory_place(log_of(job, op.process), op.memory.local, op.start_tick);
}
MemoryPlace remote_of(const Job& job, const UctOp& op) {
  return memory_place(log_of(job, op.process), op.memory.remote, op.start_tick);
}

void set_way(UctOp& op, MemoryPlace local, MemoryPlace remote) {
  op.from = op.fetches() ? remote : local;
  op.to = op.fetches() ? local : remote;
}

// Both addresses are in its own process: a copy from or to a device, not always staging
// (payload.cpp: find_copies_across).
bool copies_within(const Job& job, const UctOp& op) {
  const Interface* interface = log_of(job, op.process).interface(op.interface);
  return op.moves_memory() &&
         (op.staging || (interface != nullptr && peer_of(job, op) == op.process &&
                         interface->device_type == log::DeviceType::accelerator));
}

// One side of a message.
struct End {
  ProcessIndex process;
  MemoryPlace place;
  std::uint64_t buffer = 0, bytes = 0;  // 0 bytes: the place of the buffer is not known
  // The memory to or from which copies on this side moved the data on its way.
  std::optional<MemoryPlace> copied;

  bool holds(const UctOp& op, std::uint64_t address) const {
    return op.moves_memory() && address != 0 && address >= buffer && op.bytes <= bytes &&
           address - buffer <= bytes - op.bytes;
  }
  MemoryPlace place_at(const UctOp& op, std::uint64_t address) const {
    return copied.has_value() && !holds(op, address) ? *copied : place;
  }
  // Contradictory copies tell nothing.
  void add_copy(MemoryPlace there) {
    copied = !copied.has_value() || *copied == there ? there : MemoryPlace{};
  }
};

class Ways {
 public:
  Ways(Job& job, const Message& message, const UcpOp* initiator, std::span<const UctIndex> ops)
      : job_(job), ops_(ops) {
    src_.process = ProcessIndex(message.src_process);
    dst_.process = ProcessIndex(message.dst_process);
    src_.place = message.src_place();
    dst_.place = message.dst_place();
    if (initiator != nullptr) learn_buffers(*initiator);
  }

  void find() {
    bool moved = false;
    for (const UctIndex i : ops_) {
      UctOp& op = at(i);
      moved = moved || role_of(op) == Role::data;
      if (copies_within(job_, op)) {
        set_way(op, local_of(job_, op), remote_of(job_, op));
        if (op.staging && is_at_source(op)) src_.add_copy(op.to);
        if (op.staging && !is_at_source(op)) dst_.add_copy(op.from);
      }
    }
    const std::uint16_t between = src_.copied.has_value() ? 1 : 0;
    for (const UctIndex i : ops_) {
      UctOp& op = at(i);
      op.hop = between;
      if (!copies_within(job_, op)) {
        find_between(op);
      } else if (op.staging) {
        op.hop = is_at_source(op) ? 0 : static_cast<std::uint16_t>(between + moved);
      }
    }
  }

 private:
  UctOp& at(UctIndex i) { return job_.uct[i]; }
  const UcpOp& ucp(UcpIndex i) const { return job_.ucp[i]; }

  void learn_buffers(const UcpOp& initiator) {
    const auto is_buffer = [](const UcpOp& op) {
      return (op.flags & log::UcpOperation::kUnknownLength) == 0;
    };
    const bool fetched = initiator.is(log::UcpFamily::get);
    End& own = fetched ? dst_ : src_;
    if (is_buffer(initiator)) {
      own.buffer = initiator.buffer;
      own.bytes = initiator.bytes;
    }
    if (initiator.is_one_sided()) {
      End& target = fetched ? src_ : dst_;
      target.buffer = initiator.remote;
      target.bytes = initiator.bytes;
    } else if (initiator.partner != kNone && is_buffer(ucp(initiator.partner)) &&
               initiator.is(log::UcpFamily::tag_send)) {
      dst_.buffer = ucp(initiator.partner).buffer;
      dst_.bytes = ucp(initiator.partner).bytes;
    }
  }

  // In a message to self, a get reads from the source and a put writes to the destination.
  bool is_at_source(const UctOp& op) const {
    return src_.process == dst_.process ? op.fetches() : op.process == src_.process;
  }
  bool was_posted_by_source(const UctOp& op) const {
    return src_.process == dst_.process ? !op.fetches() : op.process == src_.process;
  }

  void find_between(UctOp& op) {
    if (role_of(op) != Role::data || is(op, wire::AmId::rndv_rts)) {
      find_way_alone(job_, op);
      return;
    }
    const bool by_source = was_posted_by_source(op);
    const End &local = by_source ? src_ : dst_, &remote = by_source ? dst_ : src_;
    const bool asked = op.memory.local != log::kMemoryNotAsked;
    set_way(op, asked ? local_of(job_, op) : local.place_at(op, op.local),
            remote.place_at(op, op.remote));
  }

  Job& job_;
  const std::span<const UctIndex> ops_;
  End src_, dst_;
};

}  // namespace

void find_ways(Job& job, const Message& message, const UcpOp* initiator,
               std::span<const UctIndex> ops) {
  Ways(job, message, initiator, ops).find();
}

// A CPU writes the header of an active message; one without data goes from host to host.
void find_way_alone(Job& job, UctOp& op) {
  if (op.is_active_message() && wire::shape_of(op.am_id).control) {
    op.from = op.to = kHostPlace;
  } else if (op.moves_memory() || op.is_active_message()) {
    const bool within = copies_within(job, op);
    set_way(op, local_of(job, op), within ? remote_of(job, op) : MemoryPlace{});
  }
}

}  // namespace uctrace::merge

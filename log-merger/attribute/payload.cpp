#include "log-merger/attribute/payload.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "log-merger/attribute/wire_view.hpp"
#include "log-merger/model/first_fit.hpp"

namespace uctrace::merge {

namespace {

using wire::AmId;

// In an active message of the program the header comes first, then the data.
std::uint64_t header_bytes(const UcpOp* served) {
  return served != nullptr ? served->header_bytes : 0;
}

// Messages that the interfaces match or fetch themselves move as a whole.
bool is_tag_offload(const UctOp& op) {
  return op.op >= log::UctOp::tag_eager_short && op.op <= log::UctOp::tag_rndv_zcopy;
}

// The beginnings of a rendezvous's buffers, to which put and get addresses are relative. The sender
// announces its buffer for reading, the receiver for writing. They are in two processes, so their
// addresses may overlap. A receiver may announce its buffer in several parts, one per fragment.
class Buffers {
 public:
  void add(std::uint64_t address, std::uint64_t length, std::uint64_t offset) {
    fits_.add({.begin = address, .end = address + length});
    buffers_.push_back({address, offset});
  }
  // The range of the message that an operation's memory range corresponds to.
  bool find(const UctOp& op, Range& range) {
    const std::size_t place = fits_.find(0, op.remote, op.remote + op.bytes);
    if (place == FirstFit::kNothing) {
      return false;
    }
    const std::uint64_t begin = buffers_[place].offset + (op.remote - buffers_[place].address);
    range = {begin, begin + op.bytes};
    return true;
  }

 private:
  struct Buffer {
    std::uint64_t address, offset;
  };
  std::vector<Buffer> buffers_;
  FirstFit fits_;
};

struct AnnouncedBuffers {
  Buffers to_fetch, to_write;
};

AnnouncedBuffers announced_buffers(const Job& job, std::span<const UctIndex> ops,
                                   const UcpOp* served) {
  const std::uint64_t in_front = header_bytes(served);
  AnnouncedBuffers buffers;
  for (const UctIndex i : ops) {
    const UctOp& op = job.uct[i];
    const auto& words = op.header.words;
    if (op.header.count != 5) {
      continue;
    }
    if (is(op, AmId::rndv_rts)) {
      buffers.to_fetch.add(words[3], words[4], in_front);
    } else if (is(op, AmId::rndv_rtr)) {
      buffers.to_write.add(words[2], words[3], in_front + words[4]);
    }
  }
  return buffers;
}

Range range_at(std::uint64_t begin, std::uint64_t length) { return {begin, begin + length}; }

// Only the headers of later fragments have an offset.
bool offset_of(const UctOp& op, std::uint64_t& offset) {
  offset = 0;
  if (is(op, AmId::eager_middle) || is(op, AmId::rndv_data) || is(op, AmId::get_reply)) {
    offset = op.header.words[1];
    return op.header.count >= 2;
  }
  if (is(op, AmId::am_middle)) {
    offset = op.header.words[0];
    return op.header.count >= 1;
  }
  return true;
}

// The log lacks the place of its bytes: such fragments are sent in order.
bool is_unplaced(const Job& job, const UctOp& op) {
  return (is(op, AmId::get_reply) || is(op, AmId::am_middle)) && !op.failed() && !op.staging &&
         !job.logs[op.process].names_places();
}

bool find_am_range(const UctOp& op, const UcpOp* served, Range& range) {
  const wire::AmShape shape = wire::shape_of(op.am_id);
  const std::uint64_t in_front = header_bytes(served);
  if (is(op, AmId::rndv_rts) && in_front > 0) {
    range = range_at(0, in_front);  // the program's header travels with the announcement
    return true;
  }
  std::uint64_t offset;
  if (shape.control || op.bytes < shape.header_bytes || !offset_of(op, offset)) {
    return false;
  }
  const bool has_data_only = is(op, AmId::am_middle) || is(op, AmId::rndv_data);
  range = range_at(has_data_only ? in_front + offset : offset, op.bytes - shape.header_bytes);
  return true;
}

// The bytes that move between the memory of the initiator and the target's.
bool find_one_sided_range(const UctOp& op, const UcpOp& served, Range& range) {
  if (is(op, AmId::get_reply)) {
    return find_am_range(op, nullptr, range);
  }
  if (is(op, AmId::atomic_request)) {
    range = range_at(0, served.bytes);  // and a second operand for compare-and-swap
    return true;
  }
  RemoteRange remote;
  if (is(op, AmId::get_request) || !remote_range(op, remote) || remote.address < served.remote) {
    return false;
  }
  range = range_at(remote.address - served.remote, remote.bytes);
  return true;
}

bool find_range(const UctOp& op, AnnouncedBuffers& buffers, const UcpOp* served, Range& range) {
  if (served != nullptr && served->is_one_sided()) {
    return find_one_sided_range(op, *served, range);
  }
  if (op.is_active_message()) {
    return find_am_range(op, served, range);
  }
  if (op.moves_memory()) {
    return (op.fetches() ? buffers.to_fetch : buffers.to_write).find(op, range);
  }
  range = range_at(0, op.bytes);
  return is_tag_offload(op);
}

// Fragments that name no offset: each begins where the one before it ends, from `offset` on.
void place_in_order(Job& job, std::vector<UctIndex> fragments, std::uint64_t offset) {
  const auto at = [&](UctIndex i) -> UctOp& { return job.uct[i]; };
  std::stable_sort(fragments.begin(), fragments.end(),
                   [&](UctIndex a, UctIndex b) { return at(a).start_tick < at(b).start_tick; });
  for (const UctIndex i : fragments) {
    UctOp& op = at(i);
    const std::uint64_t header =
        wire::shape_of(op.am_id, job.logs[op.process].names_places()).header_bytes;
    op.has_range = op.bytes >= header;
    if (op.has_range) {
      op.range = range_at(offset, op.bytes - header);
      offset = op.range.end;
    }
  }
}

void find_stream_ranges(Job& job, std::span<const UctIndex> ops) {
  std::vector<UctIndex> fragments;
  for (const UctIndex i : ops) {
    UctOp& op = job.uct[i];
    op.has_range = false;
    if (op.status >= 0 && is(op, AmId::stream_data)) {
      fragments.push_back(i);
    }
  }
  place_in_order(job, std::move(fragments), 0);
}

// Continues after the first fragment of an active message, which is already placed; an answer to a
// get has none.
void find_unplaced_ranges(Job& job, std::span<const UctIndex> ops) {
  std::vector<UctIndex> fragments;
  std::uint64_t first_bytes = 0;
  for (const UctIndex i : ops) {
    const UctOp& op = job.uct[i];
    if (is_unplaced(job, op)) {
      fragments.push_back(i);
    } else if (is(op, AmId::am_first) && op.has_range) {
      first_bytes = op.range.end;
    }
  }
  place_in_order(job, std::move(fragments), first_bytes);
}

// Whether the memory that an operation moves at this address is inside the buffer.
bool is_inside(const UctOp& op, std::uint64_t address, const UcpOp& of) {
  return address >= of.buffer && address - of.buffer <= of.bytes &&
         op.bytes <= of.bytes - (address - of.buffer);
}

// A message to self may be copied directly from one buffer to the other.
void find_copies_to_itself(Job& job, std::span<const UctIndex> ops, const UcpOp& send) {
  if (send.partner == kNone || !is_to_itself(job, send)) {
    return;
  }
  const UcpOp& receive = job.ucp[send.partner];
  for (const UctIndex i : ops) {
    UctOp& op = job.uct[i];
    const std::uint64_t source = op.fetches() ? op.remote : op.local;
    const std::uint64_t target = op.fetches() ? op.local : op.remote;
    if (op.staging && !op.failed() && is_inside(op, source, send) &&
        is_inside(op, target, receive)) {
      op.staging = false;
      op.has_range = true;
      op.range = range_at(source - send.buffer, op.bytes);
    }
  }
}

// UCX before 1.16, and protocols v2 since 1.15, may copy from a GPU directly into memory of the
// receiver that both have mapped. Then no other operation leads to the other process, and the copy
// is not staging.
void find_copies_across(Job& job, std::span<const UctIndex> ops, const UcpOp& send) {
  const auto at = [&](UctIndex i) -> UctOp& { return job.uct[i]; };
  const bool announced =
      std::any_of(ops.begin(), ops.end(), [&](UctIndex i) { return is(at(i), AmId::rndv_rtr); });
  const bool moved =
      std::any_of(ops.begin(), ops.end(), [&](UctIndex i) { return at(i).has_range; });
  if (!announced || moved) {
    return;
  }
  for (const UctIndex i : ops) {
    UctOp& op = at(i);
    if (op.staging && op.process == send.process && op.fetches() && !op.failed() &&
        is_inside(op, op.remote, send)) {
      op.staging = false;
      op.has_range = true;
      op.range = range_at(op.remote - send.buffer, op.bytes);
    }
  }
}

// The operation that the message belongs to: receives serve the sender's.
const UcpOp* initiator_of(const Job& job, std::span<const UctIndex> ops) {
  for (const UctIndex i : ops) {
    const UcpIndex serves = job.uct[i].serves;
    if (serves != kNone && job.ucp[serves].starts_message()) {
      return &job.ucp[serves];
    }
  }
  return nullptr;
}

}  // namespace

bool is_to_itself(const Job& job, const UcpOp& send) {
  const ProcessIndex receiver =
      send.partner != kNone ? job.ucp[send.partner].process : send.peer_process;
  return receiver == send.process;
}

Role role_of(const UctOp& op) {
  using log::UctOp;
  if (op.staging) {
    return Role::staging;
  }
  if (op.is_active_message()) {
    // An announcement may carry the program's header.
    return wire::shape_of(op.am_id).control && !op.has_range ? Role::control : Role::data;
  }
  switch (op.op) {
    case UctOp::tag_rndv_zcopy:  // a cancelled one was only an announcement
      return op.failed() ? Role::control : Role::data;
    case UctOp::tag_rndv_request:
    case UctOp::tag_rndv_cancel:
    case UctOp::tag_recv_zcopy:
    case UctOp::tag_recv_cancel:
    case UctOp::ep_flush:
    case UctOp::ep_fence:
    case UctOp::iface_flush:
    case UctOp::ep_check:
      return Role::control;
    default:
      return Role::data;
  }
}

void find_payload(Job& job, std::span<const UctIndex> ops) {
  const UcpOp* served = initiator_of(job, ops);
  if (served != nullptr && served->is_stream()) {
    find_stream_ranges(job, ops);
    return;
  }
  AnnouncedBuffers buffers = announced_buffers(job, ops, served);
  bool unplaced = false;
  std::uint64_t listed = 0;  // lists have an address for each buffer: the buffers follow each other
  for (const UctIndex i : ops) {
    UctOp& op = job.uct[i];
    if (op.failed() || op.staging) {
      op.has_range = false;
    } else if (op.is_list()) {
      op.has_range = true;
      op.range = range_at(listed, op.bytes);
      listed += op.bytes;
    } else if (is_unplaced(job, op)) {
      unplaced = true;
    } else {
      op.has_range = find_range(op, buffers, served, op.range);
    }
  }
  if (unplaced) {
    find_unplaced_ranges(job, ops);
  }
  if (served != nullptr && served->is_send()) {
    find_copies_to_itself(job, ops, *served);
    find_copies_across(job, ops, *served);
  }
}

std::uint64_t payload_bytes(const UctOp& op) {
  return op.has_range ? op.range.end - op.range.begin : 0;
}

std::uint64_t covered_bytes(const Job& job, std::span<const UctIndex> ops) {
  if (ops.size() == 1) {  // most messages are one fragment
    const UctOp& only = job.uct[ops.front()];
    return only.has_range && only.range.end > only.range.begin ? payload_bytes(only) : 0;
  }
  std::vector<Range> ranges;
  for (const UctIndex i : ops) {
    const UctOp& op = job.uct[i];
    if (op.has_range) {
      ranges.push_back(op.range);
    }
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::uint64_t covered = 0, reached = 0;
  for (const Range& range : ranges) {
    const std::uint64_t begin = std::max(range.begin, reached);
    if (range.end > begin) {
      covered += range.end - begin;
      reached = range.end;
    }
  }
  return covered;
}

}  // namespace uctrace::merge

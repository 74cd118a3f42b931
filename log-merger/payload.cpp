#include "log-merger/payload.hpp"

#include <algorithm>

#include "event-log/ucp_wire.hpp"

namespace uctrace::merge {

namespace {

using wire::AmId;

bool is_active_message(const UctOp& op) {
  return op.op >= log::UctOp::am_short && op.op <= log::UctOp::am_zcopy;
}

bool is_tag_offload(const UctOp& op) {
  return op.op >= log::UctOp::tag_eager_short && op.op <= log::UctOp::tag_rndv_zcopy;
}

// Where the buffers of a rendezvous begin: what put and get addresses are relative to. The sender's
// is announced to be fetched, the receiver's to be written; they lie in two processes, so that
// their addresses may overlap.
struct Buffer {
  bool to_fetch;
  std::uint64_t address, length, offset;
};

std::vector<Buffer> announced_buffers(const Job& job, const std::vector<Index>& ops) {
  std::vector<Buffer> buffers;
  for (const Index i : ops) {
    const UctOp& op = job.uct[static_cast<std::size_t>(i)];
    const auto& words = op.header.words;
    if (op.header.count != 5) {
      continue;
    }
    if (op.am_id == static_cast<std::uint8_t>(AmId::rndv_rts)) {
      buffers.push_back({true, words[3], words[4], 0});
    } else if (op.am_id == static_cast<std::uint8_t>(AmId::rndv_rtr)) {
      buffers.push_back({false, words[2], words[3], words[4]});
    }
  }
  return buffers;
}

Range range_at(std::uint64_t begin, std::uint64_t length) { return {begin, begin + length}; }

bool find_range(const UctOp& op, const std::vector<Buffer>& buffers, Range& range) {
  if (is_active_message(op)) {
    const wire::AmShape shape = wire::shape_of(op.am_id);
    if (shape.control || op.bytes < shape.header_bytes) {
      return false;
    }
    const std::uint64_t length = op.bytes - shape.header_bytes;
    const bool has_offset = op.am_id == static_cast<std::uint8_t>(AmId::eager_middle) ||
                            op.am_id == static_cast<std::uint8_t>(AmId::rndv_data);
    if (has_offset && op.header.count < 2) {
      return false;
    }
    range = range_at(has_offset ? op.header.words[1] : 0, length);
    return true;
  }
  if (op.moves_memory()) {
    for (const Buffer& buffer : buffers) {
      if (buffer.to_fetch == op.fetches() && op.remote >= buffer.address &&
          op.remote + op.bytes <= buffer.address + buffer.length) {
        range = range_at(buffer.offset + (op.remote - buffer.address), op.bytes);
        return true;
      }
    }
    return false;
  }
  range = range_at(0, op.bytes);
  return is_tag_offload(op);
}

}  // namespace

Role role_of(const UctOp& op) {
  if (is_active_message(op)) {
    return wire::shape_of(op.am_id).control ? Role::control : Role::data;
  }
  return op.op >= log::UctOp::tag_rndv_request ? Role::control : Role::data;
}

void find_payload(Job& job, const std::vector<Index>& ops) {
  const std::vector<Buffer> buffers = announced_buffers(job, ops);
  for (const Index i : ops) {
    UctOp& op = job.uct[static_cast<std::size_t>(i)];
    op.has_range = op.status >= 0 && find_range(op, buffers, op.range);
  }
}

std::uint64_t payload_bytes(const UctOp& op) {
  return op.has_range ? op.range.end - op.range.begin : 0;
}

std::uint64_t covered_bytes(const Job& job, const std::vector<Index>& ops) {
  std::vector<Range> ranges;
  for (const Index i : ops) {
    const UctOp& op = job.uct[static_cast<std::size_t>(i)];
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

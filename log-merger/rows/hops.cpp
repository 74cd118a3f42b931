#include "log-merger/rows/hops.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "log-merger/attribute/payload.hpp"
#include "log-merger/attribute/protocol.hpp"
#include "log-merger/memory/transfer_memory.hpp"
#include "log-merger/rows/row_maker.hpp"

namespace uctrace::merge {

namespace {

class HopMaker : RowMaker {
 public:
  HopMaker(Job& job, NewTexts& texts, MessageIndex message)
      : RowMaker(job, texts),
        index_(message),
        message_(run_.messages[message.place()]),
        ops_(job.operations_of.of(message)) {}

  void lay_out(const UcpOp* initiator, std::vector<Hop>& hops) {
    const auto first = static_cast<std::ptrdiff_t>(hops.size());
    find_ways(job_, message_, initiator, ops_);
    for (const UctIndex i : ops_) {
      add(job_.uct[i], first, hops);
    }
    if (is_rkey_ptr(run_.texts[message_.protocol])) {
      hops.push_back(cpu_copy());
    }
    std::sort(hops.begin() + first, hops.end(), [](const Hop& a, const Hop& b) {
      return std::tuple(a.hop, a.t_first_ns, a.role, a.op) <
             std::tuple(b.hop, b.t_first_ns, b.role, b.op);
    });
  }

 private:
  // The common key of the operations of one hop.
  static auto key_of(const Hop& hop) {
    return std::tie(hop.transport, hop.device, hop.remote_device, hop.op, hop.issued_by, hop.role,
                    hop.exact, hop.from_memory, hop.from_gpu, hop.to_memory, hop.to_gpu);
  }

  Side side_of(const UctOp& op) const {
    return message_.src_process == message_.dst_process  ? message_.initiator
           : op.process.number() == message_.src_process ? Side::src
                                                         : Side::dst;
  }

  // Adds it to its hop among those from `first` on, which are sorted by key.
  void add(const UctOp& op, std::ptrdiff_t first, std::vector<Hop>& hops) {
    const Names names = names_of(op);
    Hop kind;
    kind.message = static_cast<std::uint32_t>(index_.number());
    kind.transport = names.transport;
    kind.device = names.device;
    kind.remote_device = names.remote_device;
    kind.op = names.op;
    kind.issued_by = side_of(op);
    kind.role = role_of(op);
    kind.exact = op.link == Link::exact;
    kind.from_memory = op.from.kind;
    kind.from_gpu = op.from.gpu;
    kind.to_memory = op.to.kind;
    kind.to_gpu = op.to.gpu;
    auto place =
        std::lower_bound(hops.begin() + first, hops.end(), kind,
                         [](const Hop& a, const Hop& b) { return key_of(a) < key_of(b); });
    if (place == hops.end() || key_of(*place) != key_of(kind)) place = hops.insert(place, kind);
    Hop& hop = *place;
    hop.hop = op.hop;
    hop.network = names.network;
    ++hop.count;
    hop.payload_bytes += payload_bytes(op);
    hop.wire_bytes += op.failed() ? 0 : op.bytes;
    hop.t_first_ns = hop.t_first_ns < 0 ? op.start_ns : std::min(hop.t_first_ns, op.start_ns);
    end_not_before(op, hop.t_last_ns, hop.t_last_from);
  }

  // A receiver that maps the sender's memory and copies with its own CPU: no UCT operation moves
  // the payload. Inferred if an announced message was acknowledged without one.
  Hop cpu_copy() {
    Hop hop;
    hop.message = static_cast<std::uint32_t>(index_.number());
    hop.issued_by = Side::dst;
    hop.exact = false;
    hop.op = text(kCpuCopy);
    hop.count = 1;
    hop.from_memory = message_.src_memory;
    hop.from_gpu = message_.src_gpu;
    hop.to_memory = message_.dst_memory;
    hop.to_gpu = message_.dst_gpu;
    hop.payload_bytes =
        message_.bytes;  // except the header of an active message, which travels with the
                         // announcement
    hop.t_last_ns = message_.t_end_ns;
    hop.t_last_from = message_.t_end_from;
    for (const UctIndex i : ops_) {
      const UctOp& op = job_.uct[i];
      const Names names = names_of(op);
      const Role role = role_of(op);
      if (role == Role::data) hop.payload_bytes -= std::min(hop.payload_bytes, payload_bytes(op));
      if (role == Role::control) hop.hop = op.hop;
      hop.transport = names.transport;
      hop.device = names.device;
      hop.t_first_ns = std::max(hop.t_first_ns, op.start_ns);
    }
    return hop;
  }

  const MessageIndex index_;
  const Message& message_;
  const std::span<const UctIndex> ops_;
};

}  // namespace

void lay_out_hops(Job& job, NewTexts& texts, MessageIndex message, const UcpOp* initiator,
                  std::vector<Hop>& hops) {
  HopMaker(job, texts, message).lay_out(initiator, hops);
}

}  // namespace uctrace::merge

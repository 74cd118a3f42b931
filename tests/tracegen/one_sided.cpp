// One-sided communication: by the transport itself, or, over tcp, by active messages that the
// target's CPU handles.
#include "tests/tracegen/one_sided.hpp"

#include <algorithm>

#include "tests/tracegen/random.hpp"

namespace uctrace::tracegen {
namespace {

using log::UctOp;
using wire::AmId;

enum class Access : std::uint8_t { put, get, atomic };

// By active messages: as much as fits into one.
constexpr std::uint64_t kMostEmulated = 8000;

// An access of `m.src` to the window of `m.dst`, in either direction of the data.
struct RemoteAccess {
  Message m;
  Access access = Access::put;
  std::uint16_t interface = kNoInterface;
  UctOp op = UctOp::put_short;
  bool emulated = false;

  bool in_progress() const {
    return op == UctOp::put_zcopy || op == UctOp::get_zcopy ||
           (interface >= kFirstCard && (access == Access::get || access == Access::atomic));
  }
};

void choose_operation(const Shape& shape, RemoteAccess& a) {
  const bool far = a.interface >= kFirstCard;
  const std::uint64_t bytes = a.m.bytes;
  a.emulated = far && shape.options().network == Network::tcp;
  if (a.emulated) {
    a.op = UctOp::am_bcopy;
  } else if (a.access == Access::atomic) {
    a.op = UctOp::atomic64_fetch;
  } else if (bytes <= (far ? 2048u : 8168u)) {
    const bool is_short = a.access == Access::put && bytes <= 120;
    a.op = a.access == Access::get ? UctOp::get_bcopy
           : is_short              ? UctOp::put_short
                                   : UctOp::put_bcopy;
  } else {
    a.op = a.access == Access::get ? UctOp::get_zcopy : UctOp::put_zcopy;
    if (!far) a.interface = kCma;
  }
}

RemoteAccess access_of(const Shape& shape, const Step& step, std::uint32_t slot, std::uint32_t i,
                       std::int32_t src, std::int32_t dst) {
  RemoteAccess a;
  a.m = message_of(shape, step, 0, slot, i, src, dst, 0);
  a.access = static_cast<Access>(below(hash_of(step.choice, slot, i, src), 3));
  a.m.bytes = a.access == Access::atomic ? 8 : std::max<std::uint64_t>(a.m.bytes, 1);
  a.interface = shape.between(src, dst);
  if (a.interface >= kFirstCard && shape.options().network == Network::tcp) {
    a.m.bytes = std::min(a.m.bytes, kMostEmulated);
  }
  choose_operation(shape, a);
  return a;
}

const char* protocol_of(const RemoteAccess& a, bool told) {
  if (a.emulated) {
    return a.access == Access::put   ? "put/am/bcopy"
           : a.access == Access::get ? "get/am/bcopy"
                                     : "amo/fetch/sw";
  }
  switch (a.op) {
    case UctOp::put_short:
      return "put/offload/short";
    case UctOp::put_bcopy:
      return "put/offload/bcopy";
    case UctOp::put_zcopy:
      return "put/offload/zcopy";
    case UctOp::get_bcopy:
      return told ? "get/bcopy" : "get/offload/bcopy";
    case UctOp::get_zcopy:
      return told ? "get/zcopy" : "get/offload/zcopy";
    default:
      return told ? "amo64/fetch64/offload" : "amo64/fetch";
  }
}

const char* name_of(UctOp op) {
  switch (op) {
    case UctOp::put_short:
      return "put_short";
    case UctOp::put_bcopy:
      return "put_bcopy";
    case UctOp::put_zcopy:
      return "put_zcopy";
    case UctOp::get_bcopy:
      return "get_bcopy";
    case UctOp::get_zcopy:
      return "get_zcopy";
    default:
      return "atomic64_fetch";
  }
}

std::uint64_t reply_bytes(const RemoteAccess& a) {
  return a.access == Access::get ? 16 + a.m.bytes : a.access == Access::atomic ? 16 : 8;
}

std::uint64_t request_bytes(const RemoteAccess& a) {
  return a.access == Access::put ? 20 + a.m.bytes : a.access == Access::get ? 36 : 26 + a.m.bytes;
}

class OneSidedStep {
 public:
  OneSidedStep(ProcessLog& log, const Step& step)
      : log_(log), shape_(log.shape()), step_(step), lane_(log.lane(0)) {}

  void run() {
    std::vector<Posted> posted;
    for_each([&](const RemoteAccess& a, bool own) {
      if (own) posted.push_back(post(a));
    });
    for_each([&](const RemoteAccess& a, bool own) {
      if (!own && a.emulated) serve(a);
    });
    for (const Posted& p : posted) finish(p);
    fence();
  }

 private:
  struct Posted {
    RemoteAccess a;
    log::Id operation = 0, transfer = 0;
  };

  template <typename Use>
  void for_each(Use use) {
    for (std::uint32_t slot = 0; slot < step_.slots; ++slot) {
      const Neighbours with = partners(shape_, step_, slot, log_.rank());
      for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(shape_.options().burst); ++i) {
        if (with.to >= 0) use(access_of(shape_, step_, slot, i, log_.rank(), with.to), true);
        if (with.from >= 0) use(access_of(shape_, step_, slot, i, with.from, log_.rank()), false);
      }
    }
  }

  std::uint64_t target_of(const RemoteAccess& a) const {
    return shape_.window_memory(a.m.dst) + std::uint64_t{a.m.slot} * 0x100000 + a.m.slot * 8;
  }
  std::uint64_t request_of(const RemoteAccess& a) const {
    return shape_.ucp_endpoint(a.m.src, 0) + 0x8000000 + std::uint64_t{a.m.slot} * 0x140;
  }
  std::uint64_t own_buffer(const RemoteAccess& a) const {
    return shape_.buffer(a.m.src, 0, a.m.slot, a.access == Access::get, false);
  }

  void post_transfer(Posted& p, std::int64_t at) {
    const RemoteAccess& a = p.a;
    const bool told = shape_.options().protocols == 2;
    UctPost post{.interface = a.interface,
                 .endpoint = log_.uct_endpoint(a.interface, a.m.dst, at),
                 .op = a.op,
                 .bytes = a.emulated ? request_bytes(a) : a.m.bytes,
                 .at_ns = at + 30,
                 .origin = For::operation(p.operation),
                 .protocol = log_.protocol(protocol_of(a, told))};
    const std::uint64_t target = target_of(a), request = request_of(a);
    const std::uint64_t back = shape_.ucp_endpoint(a.m.dst, a.m.src);
    if (!a.emulated) {
      post.remote = target;
      const bool by_address = a.op != UctOp::put_bcopy && a.op != UctOp::get_bcopy;
      if (by_address) post.local = own_buffer(a);
      post.in_progress = a.in_progress();
      p.transfer = lane_.uct(post);
    } else if (a.access == Access::put) {
      post.am_id = AmId::put;
      lane_.uct(post, {target, back});
    } else if (a.access == Access::get) {
      post.am_id = AmId::get_request;
      lane_.uct(post, {target, a.m.bytes, back, request});
    } else {
      post.am_id = AmId::atomic_request;
      lane_.uct(post, {target, back, request});
    }
  }

  Posted post(const RemoteAccess& a) {
    Posted p{a};
    const Times times(step_, a.m, log_.rank());
    const std::int64_t at = times.send();
    const std::uint64_t endpoint = log_.ucp_endpoint(a.m.dst, at);
    p.operation = lane_.next_ucp_id();
    post_transfer(p, at);
    UcpCall call{.function = a.access == Access::put   ? log::UcpFunction::put_nbi
                             : a.access == Access::get ? log::UcpFunction::get_nbi
                                                       : log::UcpFunction::atomic_op_nbx,
                 .handle = endpoint,
                 .bytes = a.m.bytes,
                 .first = target_of(a),
                 .buffer = own_buffer(a),
                 .begin_ns = at,
                 .end_ns = at + 100};
    if (a.access == Access::atomic) {
      call.second = own_buffer(a) + 64;
    } else {
      call.flags = log::UcpOperation::kImplicit;
    }
    call.in_progress = waits(a);
    call.memory = log_.memory_of(false);
    lane_.ucp(p.operation, call);
    MpiParts parts;
    parts.has_peer = parts.has_volume = true;
    parts.peer = a.m.dst;
    parts.bytes = a.m.bytes;
    parts.datatype = handle::kByte;
    lane_.mpi(static_cast<std::uint16_t>(function_of(a)), at - 20, at + 130, handle::kWindow, parts,
              log::RecordType::mpi_window_call);
    return p;
  }

  static bool waits(const RemoteAccess& a) {
    return a.in_progress() || (a.emulated && a.access != Access::put);
  }

  static MpiFunction function_of(const RemoteAccess& a) {
    return a.access == Access::put   ? MpiFunction::put
           : a.access == Access::get ? MpiFunction::get
                                     : MpiFunction::fetch_and_op;
  }

  // At the target, in the handler of the request.
  void serve(const RemoteAccess& a) {
    const std::int64_t at = Times(step_, a.m, log_.rank()).receiver(0);
    log_.ucp_endpoint(a.m.src, at);
    const std::uint64_t target = target_of(a), request = request_of(a);
    const std::uint64_t back = shape_.ucp_endpoint(a.m.dst, a.m.src);
    UctPost reply{.interface = a.interface,
                  .endpoint = log_.uct_endpoint(a.interface, a.m.src, at),
                  .op = UctOp::am_bcopy,
                  .bytes = reply_bytes(a),
                  .at_ns = at + 40};
    if (a.access == Access::put) {
      reply.origin = For::arrival(
          lane_.arrival(a.interface, AmId::put, request_bytes(a), at, 100, {target, back}));
      reply.am_id = AmId::completion;
      lane_.uct(reply, {shape_.ucp_endpoint(a.m.src, a.m.dst)});
    } else if (a.access == Access::get) {
      reply.origin = For::arrival(lane_.arrival(a.interface, AmId::get_request, request_bytes(a),
                                                at, 100, {target, a.m.bytes, back, request}));
      reply.am_id = AmId::get_reply;
      lane_.uct(reply, {request, 0});
    } else {
      reply.origin = For::arrival(lane_.arrival(a.interface, AmId::atomic_request, request_bytes(a),
                                                at, 100, {target, back, request}));
      reply.am_id = AmId::atomic_reply;
      lane_.uct(reply, {request});
    }
  }

  void finish(const Posted& p) {
    const RemoteAccess& a = p.a;
    const Times times(step_, a.m, log_.rank());
    const std::int64_t at = times.sender(a.emulated ? 1 : 0);
    if (a.in_progress() && !a.emulated) lane_.uct_done(p.transfer, at);
    if (a.emulated) {
      const std::uint64_t bytes = reply_bytes(a), request = request_of(a);
      if (a.access == Access::put) {
        lane_.arrival(a.interface, AmId::completion, bytes, at, 0,
                      {shape_.ucp_endpoint(a.m.src, a.m.dst)});
      } else if (a.access == Access::get) {
        lane_.arrival(a.interface, AmId::get_reply, bytes, at, 100, {request, 0});
      } else {
        lane_.arrival(a.interface, AmId::atomic_reply, bytes, at, 0, {request});
      }
    }
    if (a.access == Access::atomic && waits(a)) lane_.sent(p.operation, at + 30);
    tell_truth(p);
  }

  std::int64_t end_of(const RemoteAccess& a) const {
    const Times own(step_, a.m, log_.rank());
    if (a.emulated) {
      const std::int64_t served = Times(step_, a.m, a.m.dst).receiver(0) + 100;
      return a.access == Access::atomic ? own.sender(1) + 30 : served;
    }
    if (!a.in_progress()) return own.send() + 100;
    return own.sender(0) + (a.access == Access::atomic ? 30 : 0);
  }

  void tell_truth(const Posted& p) {
    const RemoteAccess& a = p.a;
    const bool told = shape_.options().protocols == 2;
    const bool get = a.access == Access::get;
    TruthMessage t;
    t.kind = get ? Kind::get : a.access == Access::put ? Kind::put : Kind::atomic;
    t.src = get ? a.m.dst : a.m.src;
    t.dst = get ? a.m.src : a.m.dst;
    t.step = step_.number;
    t.bytes = a.m.bytes;
    t.has_comm = true;
    t.mpi = function_of(a);
    // The answer to a get, which has the data, comes without a name.
    t.told = told && !(a.emulated && get);
    t.protocol = protocol_of(a, t.told);
    t.start_ns = Times(step_, a.m, log_.rank()).send();
    t.end_ns = end_of(a);
    t.data_interface = a.interface;
    const bool by_src = !get;
    if (!a.emulated) {
      t.path = {{a.interface, name_of(a.op), by_src, "data", 1, a.m.bytes, a.m.bytes, true}};
    } else {
      t.path = {{a.interface, "am_bcopy", by_src, get ? "control" : "data", 1, get ? 0 : a.m.bytes,
                 request_bytes(a), true},
                {a.interface, "am_bcopy", !by_src, get ? "data" : "control", 1, get ? a.m.bytes : 0,
                 reply_bytes(a), true}};
    }
    if (t.src == t.dst) {
      for (TruthHop& hop : t.path) hop.by_src = by_src;
    }
    if (shape_.options().is_missing(a.m.dst)) {
      t.unmatched = true;
      (get ? t.src : t.dst) = -1;
      t.path.clear();
    }
    log_.truth().add(t);
  }

  // All that was posted is over: of each interface, in a callback of progress.
  void fence() {
    const std::int64_t begin =
        step_.begin_ns + step_.window_ns + jitter_of(step_, log_.rank()) + 500;
    const log::Id flush = lane_.next_ucp_id();
    UcpCall call{.function = log::UcpFunction::worker_flush_nbx,
                 .handle = handle::kWorker,
                 .begin_ns = begin + 50,
                 .end_ns = begin + 150,
                 .in_progress = true};
    lane_.ucp(flush, call);
    std::int64_t at = begin + 200;
    for (std::uint16_t id = 1; id <= shape_.interfaces(); ++id, at += 70) {
      if (!shape_.has_interface(log_.rank(), id)) continue;
      lane_.uct({.interface = id,
                 .endpoint = 0,
                 .op = UctOp::iface_flush,
                 .bytes = 0,
                 .at_ns = at,
                 .origin = For::operation(flush, log::Route::callback)});
    }
    lane_.sent(flush, at);
    lane_.mpi(static_cast<std::uint16_t>(MpiFunction::win_fence), begin, at + 100, handle::kWindow,
              {}, log::RecordType::mpi_window_call);
  }

  ProcessLog& log_;
  const Shape& shape_;
  const Step& step_;
  Lane& lane_;
};

}  // namespace

void one_sided_step(ProcessLog& log, const Step& step) { OneSidedStep(log, step).run(); }

}  // namespace uctrace::tracegen

#include "tests/tracegen/two_sided.hpp"

namespace uctrace::tracegen {
namespace {

using log::UctOp;
using wire::AmId;

constexpr std::int64_t kArrivalNs = 200;  // from one fragment's arrival to the next
constexpr std::int64_t kHandlerNs = 100;
constexpr std::uint64_t kShortArrival = 256;
constexpr std::uint64_t kRtsBytes = 50, kRtrBytes = 58, kAckBytes = 17;

std::int64_t fragment_at(std::uint64_t i, std::int64_t apart) {
  return static_cast<std::int64_t>(i) * apart;
}

AmId eager_id(const Message& m, std::uint64_t fragment) {
  if (m.way == Way::sync_bcopy) return AmId::eager_sync_only;
  if (m.way != Way::multi_bcopy && m.way != Way::multi_zcopy) return AmId::eager_only;
  return fragment == 0 ? AmId::eager_first : AmId::eager_middle;
}

std::uint64_t header_bytes(AmId id) {
  return wire::shape_of(static_cast<std::uint8_t>(id)).header_bytes;
}

std::uint64_t message_id(const Message& m) { return std::uint64_t{0xbd06} << 48 | m.serial; }

const char* eager_protocol(Way way) {
  switch (way) {
    case Way::eager_bcopy:
      return "egr/single/bcopy";
    case Way::eager_zcopy:
      return "egr/single/zcopy";
    case Way::multi_bcopy:
      return "egr/multi/bcopy";
    case Way::multi_zcopy:
      return "egr/multi/zcopy";
    case Way::sync_bcopy:
      return "egrsnc/multi/bcopy";
    default:
      return "";  // the short way goes past the selection of protocols
  }
}

// Of the fragment that carries the wire header of an eager message.
template <typename Use>
void with_eager_header(const Shape& shape, const Message& m, std::uint64_t fragment,
                       std::uint64_t request, Use use) {
  switch (eager_id(m, fragment)) {
    case AmId::eager_sync_only:
      use({m.tag, shape.ucp_endpoint(m.dst, m.src), request});
      return;
    case AmId::eager_first:
      use({m.tag, m.bytes, message_id(m)});
      return;
    case AmId::eager_middle:
      use({message_id(m), fragment_of(m, fragment).offset});
      return;
    default:
      use({m.tag});
  }
}

}  // namespace

Calls calls_of(const Shape& shape, const Step& step) {
  using F = MpiFunction;
  const bool alone = shape.options().lanes == 1;
  const auto collective = static_cast<std::uint8_t>(step.collective);
  switch (step.kind) {
    case StepKind::persistent:
      return {F::startall, F::startall};
    case StepKind::sendrecv:
      return {F::sendrecv, F::sendrecv};
    case StepKind::blocking:
      return {F::send, F::recv, alone};
    case StepKind::probe:
      return {F::send, probes_matched(step) ? F::mrecv : F::recv, alone, probes_matched(step)};
    case StepKind::collective: {
      const auto f = static_cast<F>(static_cast<std::uint8_t>(F::barrier) + collective);
      return {f, f};
    }
    case StepKind::icollective: {
      const auto f = static_cast<F>(static_cast<std::uint8_t>(F::ibarrier) + collective);
      return {f, f};
    }
    default:
      return {F::isend, F::irecv, alone};
  }
}

std::int64_t late_receive_ns(const Step& step, const Message& m) {
  const Times times(step, m, m.dst);
  const std::uint64_t arrivals = m.is_rendezvous() ? 1 : fragments_of(m);
  return times.receiver(0) + fragment_at(arrivals, kArrivalNs) + 150;
}

Instants instants_of(const Shape& shape, const Step& step, const Message& m) {
  const Times at(step, m, m.dst);
  const bool late = receives_late(step);
  const std::int64_t called = late ? late_receive_ns(step, m) : at.post_receive();
  const bool probed = step.kind == StepKind::probe && probes_matched(step);
  Instants found{Times(step, m, m.src).send(), probed ? called - 80 : called, 0};
  const std::uint64_t n = fragments_of(m);
  const auto last_arrival = [&](int part) {
    const std::int64_t last = at.receiver(part) + fragment_at(n - 1, kArrivalNs);
    const Fragment f = fragment_of(m, n - 1);
    const bool is_short =
        part == 0 && f.bytes + header_bytes(eager_id(m, n - 1)) <= kShortArrival && !m.dst_gpu;
    return is_short ? last : last + kHandlerNs - 20;
  };
  const std::int64_t taken = late ? called : at.receiver(0);
  switch (m.way) {
    case Way::rndv_get:
      found.end_ns = at.receiver(1) + 130;
      break;
    case Way::rndv_put:
      found.end_ns = at.receiver(3);
      break;
    case Way::rndv_am:
      found.end_ns = last_arrival(2);
      break;
    case Way::rkey_ptr:
    case Way::sync_bcopy:
      found.end_ns = taken + 110;
      break;
    default:
      found.end_ns = late ? called + 60 : last_arrival(0);
  }
  (void)shape;
  return found;
}

std::uint64_t Side::request_of(std::int32_t rank) const {
  const std::uint64_t place = (std::uint64_t{m_.slot} * 16 + m_.lane) * 2 + step_.number % 2;
  return shape().ucp_endpoint(rank, 0) + (rank == m_.src ? 0x8000000 : 0xc000000) + place * 0x140;
}

void Side::stage(std::int64_t at_ns, bool fetch, std::uint64_t gpu_buffer, For origin,
                 log::Id parent) {
  UctPost post{.interface = kCudaCopy,
               .endpoint = log_.uct_endpoint(kCudaCopy, log_.rank(), at_ns),
               .op = fetch ? UctOp::get_short : UctOp::put_short,
               .bytes = m_.bytes,
               .at_ns = at_ns,
               .origin = origin};
  post.local = 0x7f3000000000;
  post.remote = gpu_buffer;
  post.parent = parent;
  post.has_memory = true;
  post.memory = {log::kHostMemory, log::kFirstDeviceMemory};
  lane_.uct(post);
}

void Side::post_control(AmId id, std::uint64_t bytes, std::int64_t at_ns, For origin,
                        std::int32_t peer, std::initializer_list<std::uint64_t> header,
                        const char* protocol) {
  lane_.uct({.interface = m_.control,
             .endpoint = log_.uct_endpoint(m_.control, peer, at_ns),
             .op = UctOp::am_short,
             .bytes = bytes,
             .at_ns = at_ns,
             .origin = origin,
             .am_id = id,
             .protocol = log_.protocol(protocol)},
            header);
}

// --- the sender ----------------------------------------------------------------------------------

UctPost Sender::eager_post(std::uint64_t fragment, std::int64_t at_ns) const {
  const AmId id = eager_id(m_, fragment);
  const Fragment part = fragment_of(m_, fragment);
  UctPost post{.interface = m_.control,
               .endpoint = shape().uct_endpoint(m_.control, m_.src, m_.dst),
               .op = m_.way == Way::eager_short ? UctOp::am_short
                     : m_.is_zcopy()            ? UctOp::am_zcopy
                                                : UctOp::am_bcopy,
               .bytes = part.bytes + header_bytes(id),
               .at_ns = at_ns,
               .origin = For::operation(operation_),
               .am_id = id,
               .protocol = log_.protocol(eager_protocol(m_.way))};
  const bool by_address = post.op != UctOp::am_bcopy && part.bytes > 0;
  if (by_address) {
    post.local = shape().buffer(m_.src, m_.lane, m_.slot, false, m_.src_gpu) + part.offset;
  }
  post.in_progress = m_.is_zcopy();
  if (post.in_progress && shape().has_gpu(m_.src)) {
    post.has_memory = true;
    post.memory = {log_.memory_of(m_.src_gpu), log::kMemoryNotAsked};
  }
  post.named = m_.src_gpu && m_.way == Way::eager_bcopy;
  return post;
}

void Sender::post_eager(std::int64_t at_ns) {
  for (std::uint64_t i = 0; i < fragments_of(m_); ++i) {
    const std::int64_t at = at_ns + fragment_at(i, kFragmentNs);
    const UctPost post = eager_post(i, at);
    with_eager_header(shape(), m_, i, request_of(m_.src),
                      [&](std::initializer_list<std::uint64_t> header) {
                        const log::Id id = lane_.uct(post, header);
                        if (i == 0) first_transfer_ = id;
                      });
  }
  if (m_.src_gpu && m_.way == Way::eager_bcopy) {
    stage(at_ns + 10, true, shape().buffer(m_.src, m_.lane, m_.slot, false, true),
          For::operation(operation_), first_transfer_);
  }
}

void Sender::post_queued(std::int64_t at_ns) {
  UctPost post = eager_post(0, at_ns);
  post.refused = true;
  lane_.uct(post, {m_.tag});
  lane_.pending(m_.control, post.endpoint, request_of(m_.src), log::PendingEvent::added,
                at_ns + 50);
}

void Sender::dispatch_queued() {
  const std::int64_t at = times_.send() + step_.width / 2;
  UctPost post = eager_post(0, at);
  post.origin = For::operation(operation_, log::Route::pending);
  lane_.uct(post, {m_.tag});
  lane_.sent(operation_, at + 70);
  lane_.pending(m_.control, post.endpoint, request_of(m_.src), log::PendingEvent::dispatched,
                at + 80);
}

void Sender::post(const Calls& calls) {
  const std::int64_t begin = times_.send();
  const std::uint64_t endpoint = log_.ucp_endpoint(m_.dst, begin);
  operation_ = lane_.next_ucp_id();
  const std::uint64_t buffer = shape().buffer(m_.src, m_.lane, m_.slot, false, m_.src_gpu);
  if (m_.is_rendezvous()) {
    post_control(AmId::rndv_rts, kRtsBytes, begin + 30, For::operation(operation_), m_.dst,
                 {m_.tag, shape().ucp_endpoint(m_.dst, m_.src), request_of(m_.src), buffer,
                  m_.bytes},
                 "tag/rndv");
  } else if (m_.queued) {
    post_queued(begin + 30);
  } else {
    post_eager(begin + 30);
  }
  UcpCall call{.function = m_.way == Way::sync_bcopy ? log::UcpFunction::tag_send_sync_nbx
                                                     : log::UcpFunction::tag_send_nbx,
               .handle = endpoint,
               .bytes = m_.bytes,
               .first = m_.tag,
               .buffer = buffer,
               .third = lane_.tick(begin),
               .begin_ns = begin,
               .end_ns = begin + posting_ns(m_),
               .in_progress = !m_.ends_at_return()};
  call.memory = log_.memory_of(m_.src_gpu);
  if (calls.shares_time) {
    call.flags = log::UcpOperation::kCallStart;
    if (m_.ends_at_return()) call.flags |= log::UcpOperation::kCallEnd;
  }
  lane_.ucp(operation_, call);
  if (m_.queued) dispatch_queued();
}

// What the receiver asked for by its RTR.
void Sender::answer_request() {
  const std::int64_t at = times_.sender(1);
  const std::uint64_t request = request_of(m_.dst);
  const std::uint64_t target = shape().buffer(m_.dst, m_.lane, m_.slot, true, m_.dst_gpu);
  const log::Id arrival = lane_.arrival(m_.control, AmId::rndv_rtr, kRtrBytes, at, 0,
                                        {request_of(m_.src), request, target, m_.bytes, 0});
  asked_by_ = arrival;
  const std::uint64_t source = shape().buffer(m_.src, m_.lane, m_.slot, false, m_.src_gpu);
  if (m_.way == Way::rndv_put) {
    UctPost put{.interface = m_.data,
                .endpoint = log_.uct_endpoint(m_.data, m_.dst, at),
                .op = UctOp::put_zcopy,
                .bytes = m_.bytes,
                .at_ns = at + 40,
                .origin = For::arrival(arrival),
                .protocol = log_.protocol("rndv/put/zcopy"),
                .local = source,
                .remote = target};
    put.in_progress = true;
    put.has_memory = shape().has_gpu(m_.src);
    put.memory = {log_.memory_of(m_.src_gpu), log::kMemoryNotAsked};
    first_transfer_ = lane_.uct(put);
    return;
  }
  for (std::uint64_t i = 0; i < fragments_of(m_); ++i) {
    const Fragment part = fragment_of(m_, i);
    lane_.uct({.interface = m_.data,
               .endpoint = log_.uct_endpoint(m_.data, m_.dst, at),
               .op = UctOp::am_bcopy,
               .bytes = part.bytes + header_bytes(AmId::rndv_data),
               .at_ns = at + 40 + fragment_at(i, kFragmentNs),
               .origin = For::arrival(arrival),
               .am_id = AmId::rndv_data,
               .protocol = log_.protocol("rndv/am/bcopy")},
              {request, part.offset});
  }
  lane_.sent(operation_, at + 60 + fragment_at(fragments_of(m_), kFragmentNs));
}

void Sender::reply(int part) {
  const std::int64_t at = times_.sender(part);
  if (part == 0 && m_.is_zcopy()) {
    const std::uint64_t n = fragments_of(m_);
    for (std::uint64_t i = 0; i < n; ++i) {
      lane_.uct_done(first_transfer_ + i, at + fragment_at(i, 20));
    }
    lane_.sent(operation_, at + fragment_at(n, 20) + 30);
  } else if (part == 1 && (m_.way == Way::rndv_put || m_.way == Way::rndv_am)) {
    answer_request();
  } else if (part == 2 && m_.way == Way::rndv_put) {
    lane_.uct_done(first_transfer_, at);
    post_control(AmId::rndv_atp, kAckBytes, at + 60,
                 For::arrival(asked_by_, log::Route::completion), m_.dst, {request_of(m_.dst)},
                 "rndv/put/zcopy");
    lane_.sent(operation_, at + 130);
  } else if ((part == 1 && (m_.way == Way::sync_bcopy || m_.way == Way::rkey_ptr)) ||
             (part == 2 && m_.way == Way::rndv_get)) {
    const AmId id = m_.way == Way::sync_bcopy ? AmId::eager_sync_ack : AmId::rndv_ats;
    lane_.arrival(m_.control, id, kAckBytes, at, 0, {request_of(m_.src)});
    lane_.sent(operation_, at);
  }
}

// --- the receiver --------------------------------------------------------------------------------

void Receiver::post_operation(const Calls& calls, std::int64_t at_ns, std::int64_t end_ns) {
  const bool any = step_.kind == StepKind::wildcard;
  UcpCall call{.function = calls.matched_probe ? log::UcpFunction::tag_msg_recv_nbx
                                               : log::UcpFunction::tag_recv_nbx,
               .handle = handle::kWorker,
               .bytes = m_.bytes,
               .first = calls.matched_probe ? 0 : m_.tag & shape().tag_mask(any),
               .second = calls.matched_probe ? 0 : shape().tag_mask(any),
               .buffer = shape().buffer(m_.dst, m_.lane, m_.slot, true, m_.dst_gpu),
               .third = lane_.tick(calls.matched_probe ? at_ns - 80 : at_ns),
               .begin_ns = at_ns,
               .end_ns = end_ns,
               .in_progress = true};
  call.memory = log_.memory_of(m_.dst_gpu);
  if (calls.shares_time) call.flags = log::UcpOperation::kCallStart;
  if (calls.matched_probe) call.flags |= log::UcpOperation::kProbed;
  lane_.ucp(operation_, call);
}

void Receiver::post(const Calls& calls) {
  operation_ = lane_.next_ucp_id();
  const std::int64_t at = times_.post_receive();
  post_operation(calls, at, at + 60);
}

void Receiver::arrive() {
  const std::int64_t at = times_.receiver(0);
  log_.ucp_endpoint(m_.src, at);
  if (m_.is_rendezvous()) {
    arrival_ = lane_.arrival(
        m_.control, AmId::rndv_rts, kRtsBytes, at, 0,
        {m_.tag, shape().ucp_endpoint(m_.dst, m_.src), request_of(m_.src),
         shape().buffer(m_.src, m_.lane, m_.slot, false, m_.src_gpu), m_.bytes});
    return;
  }
  for (std::uint64_t i = 0; i < fragments_of(m_); ++i) {
    const AmId id = eager_id(m_, i);
    with_eager_header(shape(), m_, i, request_of(m_.src),
                      [&](std::initializer_list<std::uint64_t> header) {
                        arrival_ = lane_.arrival(
                            m_.control, id, fragment_of(m_, i).bytes + header_bytes(id),
                            at + fragment_at(i, kArrivalNs), kHandlerNs, header);
                      });
  }
}

void Receiver::end(std::int64_t at_ns, bool in_arrival) {
  lane_.received(operation_, at_ns, 0, m_.tag, m_.bytes, in_arrival);
}

void Receiver::get(std::int64_t at_ns, For origin) {
  UctPost post{.interface = m_.data,
               .endpoint = log_.uct_endpoint(m_.data, m_.src, at_ns),
               .op = UctOp::get_zcopy,
               .bytes = m_.bytes,
               .at_ns = at_ns,
               .origin = origin,
               .protocol = log_.protocol("rndv/get/zcopy"),
               .local = shape().buffer(m_.dst, m_.lane, m_.slot, true, m_.dst_gpu),
               .remote = shape().buffer(m_.src, m_.lane, m_.slot, false, m_.src_gpu)};
  post.in_progress = true;
  post.has_memory = shape().has_gpu(m_.dst);
  post.memory = {log_.memory_of(m_.dst_gpu), log::kMemoryNotAsked};
  first_transfer_ = lane_.uct(post);
}

void Receiver::take(const Calls& calls) {
  const bool late = receives_late(step_);
  if (late) operation_ = lane_.next_ucp_id();
  const std::int64_t at = late ? late_receive_ns(step_, m_) : times_.receiver(0);
  const For origin = late ? For::operation(operation_) : For::arrival(arrival_);
  const std::int64_t ended = instants_of(shape(), step_, m_).end_ns;
  switch (m_.way) {
    case Way::rndv_get:
      get(at + 40, origin);
      break;
    case Way::rndv_put:
    case Way::rndv_am:
      post_control(AmId::rndv_rtr, kRtrBytes, at + 40, origin, m_.src,
                   {request_of(m_.src), request_of(m_.dst),
                    shape().buffer(m_.dst, m_.lane, m_.slot, true, m_.dst_gpu), m_.bytes, 0},
                   "rndv/rtr");
      break;
    case Way::rkey_ptr:
    case Way::sync_bcopy:
      post_control(m_.way == Way::rkey_ptr ? AmId::rndv_ats : AmId::eager_sync_ack, kAckBytes,
                   at + 40, origin, m_.src, {request_of(m_.src)}, "");
      end(ended, false);
      break;
    default: {
      if (m_.dst_gpu) {
        stage(at + 30, false, shape().buffer(m_.dst, m_.lane, m_.slot, true, true), origin, 0);
      }
      const std::uint64_t n = fragments_of(m_);
      end(ended, !late && ended == times_.receiver(0) + fragment_at(n - 1, kArrivalNs));
    }
  }
  if (late) post_operation(calls, at, at + 120);
}

void Receiver::reply(int part) {
  const std::int64_t at = times_.receiver(part);
  if (part == 1 && m_.way == Way::rndv_get) {
    lane_.uct_done(first_transfer_, at);
    const For origin = receives_late(step_)
                           ? For::operation(operation_, log::Route::completion)
                           : For::arrival(arrival_, log::Route::completion);
    post_control(AmId::rndv_ats, kAckBytes, at + 60, origin, m_.src, {request_of(m_.src)},
                 "rndv/get/zcopy");
    end(at + 130, false);
  } else if (part == 2 && m_.way == Way::rndv_am) {
    const std::uint64_t n = fragments_of(m_);
    for (std::uint64_t i = 0; i < n; ++i) {
      const Fragment f = fragment_of(m_, i);
      lane_.arrival(m_.control, AmId::rndv_data, f.bytes + header_bytes(AmId::rndv_data),
                    at + fragment_at(i, kArrivalNs), kHandlerNs, {request_of(m_.dst), f.offset});
    }
    end(instants_of(shape(), step_, m_).end_ns, false);
  } else if (part == 3 && m_.way == Way::rndv_put) {
    lane_.arrival(m_.control, AmId::rndv_atp, kAckBytes, at, 0, {request_of(m_.dst)});
    end(at, true);
  }
}

}  // namespace uctrace::tracegen

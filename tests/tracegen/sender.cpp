// The sender's records of a tagged message.
#include "tests/tracegen/wire_form.hpp"

namespace uctrace::tracegen {

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
  if (m_.offload) take_to_interface(m_, post);
  const bool by_address =
      post.op != UctOp::am_bcopy && post.op != UctOp::tag_eager_bcopy && part.bytes > 0;
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
  if (m_.is_rendezvous() && m_.offload) {
    announce_to_interface(begin + 30);
  } else if (m_.is_rendezvous()) {
    post_control(
        AmId::rndv_rts, kRtsBytes, begin + 30, For::operation(operation_), m_.dst,
        {m_.tag, shape().ucp_endpoint(m_.dst, m_.src), request_of(m_.src), buffer, m_.bytes},
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
  if (m_.offload && (m_.is_rendezvous() || m_.way == Way::sync_bcopy)) {
    reply_to_interface(part);
    return;
  }
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

}  // namespace uctrace::tracegen

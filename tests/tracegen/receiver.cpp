// The receiver's records of a tagged message.
#include "tests/tracegen/wire_form.hpp"

namespace uctrace::tracegen {

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
  if (m_.met) post_to_interface(at + 20);
  post_operation(calls, at, at + 60);
}

void Receiver::arrive() {
  const std::int64_t at = times_.receiver(0);
  log_.ucp_endpoint(m_.src, at);
  if (m_.offload) {
    if (m_.way != Way::rndv_offload) arrive_at_interface(at);
    return;
  }
  if (m_.is_rendezvous()) {
    arrival_ =
        lane_.arrival(m_.control, AmId::rndv_rts, kRtsBytes, at, 0,
                      {m_.tag, shape().ucp_endpoint(m_.dst, m_.src), request_of(m_.src),
                       shape().buffer(m_.src, m_.lane, m_.slot, false, m_.src_gpu), m_.bytes});
    return;
  }
  for (std::uint64_t i = 0; i < fragments_of(m_); ++i) {
    const AmId id = eager_id(m_, i);
    with_eager_header(
        shape(), m_, i, request_of(m_.src), [&](std::initializer_list<std::uint64_t> header) {
          arrival_ = lane_.arrival(m_.control, id, fragment_of(m_, i).bytes + header_bytes(id),
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
    case Way::rndv_offload:
      break;
    case Way::rkey_ptr:
    case Way::sync_bcopy:
      if (m_.offload) {
        acknowledge_to_interface(at + 40, origin);
        end(ended, false);
        break;
      }
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
    const For origin = receives_late(step_) ? For::operation(operation_, log::Route::completion)
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
  } else if (part == 1 && m_.way == Way::rndv_offload) {
    arrive_at_interface(at);
    end(instants_of(shape(), step_, m_).end_ns, false);
  } else if (part == 3 && m_.way == Way::rndv_put) {
    lane_.arrival(m_.control, AmId::rndv_atp, kAckBytes, at, 0, {request_of(m_.dst)});
    end(at, true);
  }
}

}  // namespace uctrace::tracegen

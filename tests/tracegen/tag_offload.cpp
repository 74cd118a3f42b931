// Tagged messages that the receiver's interface matches by itself, as it does for UCP: eager ones,
// and rendezvous that the interfaces carry out. A message without a posted receive is passed up.
#include "tests/tracegen/wire_form.hpp"

namespace uctrace::tracegen {

namespace {
constexpr std::int32_t kCancelled = -16;  // UCS_ERR_CANCELED
constexpr std::uint64_t kIdsBytes = 16;   // an announcement has the ids of endpoint and request
}  // namespace

// --- the sender

void Sender::announce_to_interface(std::int64_t at_ns) {
  const std::uint64_t buffer = shape().buffer(m_.src, m_.lane, m_.slot, false, m_.src_gpu);
  UctPost post{.interface = m_.control,
               .endpoint = log_.uct_endpoint(m_.control, m_.dst, at_ns),
               .op = UctOp::tag_rndv_zcopy,
               .bytes = m_.bytes,
               .at_ns = at_ns,
               .origin = For::operation(operation_),
               .am_id = AmId::rndv_rts,
               .local = buffer};
  post.in_progress = true;
  post.has_memory = shape().has_gpu(m_.src);
  post.memory = {log_.memory_of(m_.src_gpu), log::kMemoryNotAsked};
  first_transfer_ = lane_.uct(
      post, {m_.tag, shape().ucp_endpoint(m_.dst, m_.src), request_of(m_.src), buffer, m_.bytes});
}

void Sender::reply_to_interface(int part) {
  const std::int64_t at = times_.sender(part);
  if (part == 1 && m_.way == Way::rndv_offload) {
    lane_.uct_done(first_transfer_, at);
    lane_.sent(operation_, at + 30);
  } else if (part == 1 && m_.way == Way::sync_bcopy) {
    lane_.arrival(m_.control, AmId::offload_sync_ack, kAckBytes, at, 0,
                  {shape().ucp_endpoint(m_.src, m_.dst), m_.tag});
    lane_.sent(operation_, at);
  } else if (part == 2 && m_.way == Way::rndv_get) {
    const log::Id fetched =
        lane_.arrival(m_.control, AmId::rndv_ats, kAckBytes, at, 0, {request_of(m_.src)});
    lane_.uct({.interface = m_.control,
               .endpoint = log_.uct_endpoint(m_.control, m_.dst, at),
               .op = UctOp::tag_rndv_cancel,
               .bytes = 0,
               .at_ns = at + 20,
               .origin = For::arrival(fetched)});
    lane_.uct_done(first_transfer_, at + 80, kCancelled);
    lane_.sent(operation_, at);
  }
}

// --- the receiver

void Receiver::post_to_interface(std::int64_t at_ns) {
  const std::uint64_t mask = shape().tag_mask(false);
  UctPost post{.interface = m_.control,
               .endpoint = 0,
               .op = UctOp::tag_recv_zcopy,
               .bytes = 0,
               .at_ns = at_ns,
               .origin = For::operation(operation_),
               .local = shape().buffer(m_.dst, m_.lane, m_.slot, true, m_.dst_gpu)};
  post.named = true;
  post.has_memory = shape().has_gpu(m_.dst);
  post.memory = {log_.memory_of(m_.dst_gpu), log::kMemoryNotAsked};
  posted_ = lane_.uct(post, {m_.tag & mask, mask, m_.bytes});
}

void Receiver::arrive_at_interface(std::int64_t at_ns) {
  if (m_.met) lane_.tag_receive_done(posted_, at_ns - 10);
  if (m_.way == Way::rndv_offload) {
    lane_.arrival(m_.control, AmId{}, m_.bytes, at_ns, kHandlerNs, {m_.tag},
                  log::ArrivalKind::tag_matched);
  } else if (m_.is_rendezvous()) {
    arrival_ =
        lane_.arrival(m_.control, AmId::rndv_rts, kIdsBytes, at_ns, 0,
                      {m_.tag, shape().ucp_endpoint(m_.dst, m_.src), request_of(m_.src),
                       shape().buffer(m_.src, m_.lane, m_.slot, false, m_.src_gpu), m_.bytes},
                      log::ArrivalKind::tag_rndv_unexpected);
  } else {
    with_eager_header(
        shape(), m_, 0, request_of(m_.src), [&](std::initializer_list<std::uint64_t> header) {
          arrival_ = lane_.arrival(
              m_.control, AmId{}, m_.bytes, at_ns, kHandlerNs, header,
              m_.met ? log::ArrivalKind::tag_matched : log::ArrivalKind::tag_eager_unexpected);
        });
  }
}

void Receiver::acknowledge_to_interface(std::int64_t at_ns, For origin) {
  post_control(AmId::offload_sync_ack, kAckBytes, at_ns, origin, m_.src,
               {shape().ucp_endpoint(m_.src, m_.dst), m_.tag}, "");
}

}  // namespace uctrace::tracegen

#include "tests/tracegen/two_sided.hpp"

#include "tests/tracegen/wire_form.hpp"

namespace uctrace::tracegen {
namespace {

constexpr std::uint64_t kShortArrival = 256;

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
        part == 0 && f.bytes + eager_header_bytes(m, n - 1) <= kShortArrival && !m.dst_gpu;
    return is_short ? last : last + kHandlerNs - 20;
  };
  const std::int64_t taken = late ? called : at.receiver(0);
  switch (m.way) {
    case Way::rndv_get:
      found.end_ns = at.receiver(1) + 130;
      break;
    case Way::rndv_offload:
      found.end_ns = at.receiver(1) + kHandlerNs - 20;
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

}  // namespace uctrace::tracegen

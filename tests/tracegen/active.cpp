// Active messages and streams: both are sent eagerly, in one operation.
#include "tests/tracegen/active.hpp"

#include <algorithm>

#include "tests/tracegen/one_sided.hpp"
#include "tests/tracegen/random.hpp"

namespace uctrace::tracegen {
namespace {

using log::UctOp;
using wire::AmId;

constexpr std::uint64_t kProgramHeader = 16;
constexpr std::uint64_t kMostBytes = 8000;
constexpr std::int64_t kHandlerNs = 150;

UctPost post_of(ProcessLog& log, const Message& m, std::uint64_t in_front, std::int64_t at,
                log::Id operation) {
  UctPost post{.interface = m.control,
               .endpoint = log.uct_endpoint(m.control, m.dst, at),
               .op = m.way == Way::eager_short ? UctOp::am_short : UctOp::am_bcopy,
               .bytes = 8 + in_front + m.bytes,
               .at_ns = at + 30,
               .origin = For::operation(operation)};
  if (m.way == Way::eager_short) {
    post.local = log.shape().buffer(m.src, m.lane, m.slot, false, false);
  }
  return post;
}

TruthMessage truth_of(const Shape& shape, const Message& m, Kind kind, std::uint64_t in_front) {
  TruthMessage t;
  t.kind = kind;
  t.src = m.src;
  t.dst = m.dst;
  t.bytes = m.bytes + in_front;
  t.data_interface = m.control;
  t.path = {{m.control, m.way == Way::eager_short ? "am_short" : "am_bcopy", true, "data", 1,
             t.bytes, t.bytes + 8, true}};
  if (shape.options().is_missing(m.dst)) {
    t.unmatched = true;
    t.dst = -1;
    t.path.clear();
  }
  return t;
}

// A message whose sender left no log is known only from its receiver.
void tell_lost_sender(ProcessLog& log, TruthMessage t) {
  t.unmatched = t.from_receiver = true;
  t.src = -1;
  t.start_ns = -1;
  t.path.clear();
  log.truth().add(t);
}

// --- active messages -----------------------------------------------------------------------------

constexpr std::uint64_t kSharedHandler = 60000, kSharedBytes = 64;

// A sender has handlers of its own at all others, so that it is known whose a message is; or not.
std::uint64_t handler_of(const Shape& shape, const Step& step, const Message& m) {
  if (step.kind == StepKind::am_shared) return kSharedHandler;
  return static_cast<std::uint64_t>(m.src) * static_cast<std::uint64_t>(shape.options().lanes) +
         m.lane;
}

// In every other step what calls the shared handler is the same of all senders, also by content.
bool is_alike(const Step& step) {
  return step.kind == StepKind::am_shared && (step.choice >> 20) % 2 == 0;
}

// Several threads or processes send similar messages to one handler. Messages from the process
// itself use a separate transport.
bool is_ambiguous(const Shape& shape, const Step& step, const Message& m) {
  const auto slots = slots_of(step.pattern, shape.size_of(step.comm, m.dst));
  const auto others = static_cast<std::int32_t>(slots) - 1;
  return is_alike(step) && (shape.options().lanes > 1 || (m.src != m.dst && others > 1));
}

// What both sides record of the contents of a message.
std::uint64_t content_digest(const Step& step, const Message& m) {
  return is_alike(step) ? kSharedBytes : hash_of(m.serial, m.src);
}

const char* told_protocol(const Message& m) {
  return m.way == Way::eager_short ? "" : "am/egr/single/bcopy";
}

std::uint64_t endpoint_of(ProcessLog& log, const ActiveMessage& message, std::int32_t peer,
                          std::int64_t at_ns) {
  return message.connected ? log.connected_endpoint(peer, message.step, at_ns)
                           : log.ucp_endpoint(peer, at_ns);
}

TruthMessage truth_of(const Shape& shape, const ActiveMessage& message) {
  TruthMessage t = truth_of(shape, message.m, Kind::am, message.header_bytes);
  t.step = message.step;
  t.ambiguous = message.ambiguous;
  t.mpi = message.mpi;
  t.has_comm = message.has_comm;
  t.comm = message.comm;
  t.start_ns = message.sent_ns;
  if (t.unmatched) return t;
  t.posted_ns = message.arrived_ns + 20;
  t.end_ns = t.posted_ns + kHandlerNs;
  return t;
}

}  // namespace

Message in_one(const Shape& shape, Message m, std::uint64_t in_front) {
  m.bytes = std::clamp<std::uint64_t>(m.bytes, 1, kMostBytes);
  m.way = m.bytes + in_front <= 92 ? Way::eager_short : Way::eager_bcopy;
  m.control = m.data = shape.between(m.src, m.dst);
  m.src_gpu = m.dst_gpu = m.queued = false;
  return m;
}

void send_active(ProcessLog& log, const ActiveMessage& message, log::Id arrival) {
  const Message& m = message.m;
  Lane& lane = log.lane(m.lane);
  const std::int64_t at = message.sent_ns;
  const std::uint64_t endpoint = endpoint_of(log, message, m.dst, at);
  const log::Id id = lane.next_ucp_id();
  UctPost post = post_of(log, m, message.header_bytes, at, id);
  post.am_id = AmId::am_single;
  post.protocol = log.protocol(told_protocol(m));
  lane.uct(post, {message.handler | message.header_bytes << 32, message.content});
  UcpCall call{.function = log::UcpFunction::am_send_nbx,
               .handle = endpoint,
               .bytes = m.bytes,
               .first = message.handler,
               .second = message.header_bytes,
               .buffer = log.shape().buffer(m.src, m.lane, m.slot, false, false),
               .third = arrival,
               .begin_ns = at,
               .end_ns = at + 120};
  call.memory = log.memory_of(false);
  lane.ucp(id, call);
  TruthMessage t = truth_of(log.shape(), message);
  t.told = post.protocol != 0;
  t.protocol = t.told                      ? told_protocol(m)
               : m.way == Way::eager_short ? "am/eager/short"
                                           : "am/eager/bcopy";
  log.truth().add(t);
}

log::Id handle_active(ProcessLog& log, const ActiveMessage& message) {
  const Message& m = message.m;
  Lane& lane = log.lane(m.lane);
  const std::int64_t at = message.arrived_ns;
  endpoint_of(log, message, m.src, at);
  const log::Id arrival =
      lane.arrival(m.control, AmId::am_single, 8 + message.header_bytes + m.bytes, at, 200,
                   {message.handler | message.header_bytes << 32, message.content});
  lane.ucp(lane.next_ucp_id(), {.function = log::UcpFunction::am_handler,
                                .handle = handle::kWorker,
                                .bytes = m.bytes,
                                .first = message.handler,
                                .second = message.header_bytes,
                                .buffer = 0x7f3000000000,
                                .third = arrival,
                                .begin_ns = at + 20,
                                .end_ns = at + 20 + kHandlerNs});
  if (log.shape().options().is_missing(m.src)) {
    tell_lost_sender(log, truth_of(log.shape(), message));
  }
  return arrival;
}

namespace {

ActiveMessage program_message(const Shape& shape, const Step& step, Message m) {
  if (step.kind == StepKind::am_shared) m.bytes = kSharedBytes;
  m = in_one(shape, m, kProgramHeader);
  return {.m = m,
          .step = step.number,
          .handler = handler_of(shape, step, m),
          .header_bytes = kProgramHeader,
          .content = content_digest(step, m),
          .sent_ns = Times(step, m, m.src).send(),
          .arrived_ns = Times(step, m, m.dst).receiver(0),
          .ambiguous = is_ambiguous(shape, step, m),
          .connected = step.kind == StepKind::connected && m.src != m.dst};
}

// --- streams -------------------------------------------------------------------------------------

TruthMessage stream_truth(const Shape& shape, const Step& step, const Message& m) {
  TruthMessage t = truth_of(shape, m, Kind::stream, 0);
  t.step = step.number;
  t.start_ns = Times(step, m, m.src).send();
  if (t.unmatched) return t;
  const Times at(step, m, m.dst);
  t.posted_ns = at.post_receive();
  t.end_ns = at.receiver(0) + 60;
  return t;
}

void send_stream(ProcessLog& log, const Step& step, const Message& m) {
  Lane& lane = log.lane(0);
  const std::int64_t at = Times(step, m, m.src).send();
  const std::uint64_t endpoint = log.ucp_endpoint(m.dst, at);
  const log::Id id = lane.next_ucp_id();
  UctPost post = post_of(log, m, 0, at, id);
  post.am_id = AmId::stream_data;
  lane.uct(post, {log.shape().ucp_endpoint(m.dst, m.src)});
  UcpCall call{.function = log::UcpFunction::stream_send_nbx,
               .handle = endpoint,
               .bytes = m.bytes,
               .buffer = log.shape().buffer(m.src, 0, m.slot, false, false),
               .begin_ns = at,
               .end_ns = at + 120};
  call.memory = log.memory_of(false);
  lane.ucp(id, call);
  TruthMessage t = stream_truth(log.shape(), step, m);
  t.protocol = m.way == Way::eager_short ? "stream/short" : "stream/bcopy";
  log.truth().add(t);
}

void receive_stream(ProcessLog& log, const Step& step, const Message& m) {
  Lane& lane = log.lane(0);
  const Times times(step, m, m.dst);
  const std::int64_t posted = times.post_receive(), at = times.receiver(0);
  const std::uint64_t endpoint = log.ucp_endpoint(m.src, posted);
  const log::Id id = lane.next_ucp_id();
  UcpCall call{.function = log::UcpFunction::stream_recv_nbx,
               .handle = endpoint,
               .bytes = m.bytes,
               .buffer = log.shape().buffer(m.dst, 0, m.slot, true, false),
               .begin_ns = posted,
               .end_ns = posted + 50,
               .in_progress = true};
  call.memory = log.memory_of(false);
  lane.ucp(id, call);
  const log::Id arrival = lane.arrival(m.control, AmId::stream_data, 8 + m.bytes, at, 100,
                                       {log.shape().ucp_endpoint(m.dst, m.src)});
  lane.stream_received(id, at + 60, arrival, m.bytes);
  if (log.shape().options().is_missing(m.src)) {
    tell_lost_sender(log, stream_truth(log.shape(), step, m));
  }
}

}  // namespace

void active_step(ProcessLog& log, const Step& step, std::uint16_t lane) {
  const Shape& shape = log.shape();
  const auto for_each = [&](bool own, auto use) {
    for (std::uint32_t slot = 0; slot < step.slots; ++slot) {
      const Neighbours with = partners(shape, step, slot, log.rank());
      const std::int32_t src = own ? log.rank() : with.from, dst = own ? with.to : log.rank();
      if (src < 0 || dst < 0) continue;
      for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(shape.options().burst); ++i) {
        const Message m = message_of(shape, step, 0, slot, i, src, dst, lane);
        use(program_message(shape, step, m));
      }
    }
  };
  for_each(true, [&](const ActiveMessage& message) { send_active(log, message); });
  for_each(false, [&](const ActiveMessage& message) { handle_active(log, message); });
}

void stream_step(ProcessLog& log, const Step& step) {
  for (std::uint32_t window = 0; window < step.windows; ++window) {
    const Neighbours with = partners(log.shape(), step, window, log.rank());
    const auto message = [&](std::int32_t src, std::int32_t dst) {
      return in_one(log.shape(), message_of(log.shape(), step, window, window, 0, src, dst, 0), 0);
    };
    if (with.to >= 0) send_stream(log, step, message(log.rank(), with.to));
    if (with.from >= 0) receive_stream(log, step, message(with.from, log.rank()));
  }
}

}  // namespace uctrace::tracegen

// Active messages of the program's own, and streams: both go eagerly, in one operation.
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

// How a message goes that always goes in one operation.
Message in_one(const Shape& shape, Message m, std::uint64_t in_front) {
  m.bytes = std::clamp<std::uint64_t>(m.bytes, 1, kMostBytes);
  m.way = m.bytes + in_front <= 92 ? Way::eager_short : Way::eager_bcopy;
  m.control = m.data = shape.between(m.src, m.dst);
  m.src_gpu = m.dst_gpu = m.queued = false;
  return m;
}

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

TruthMessage truth_of(ProcessLog& log, const Step& step, const Message& m, Kind kind,
                      std::uint64_t in_front) {
  TruthMessage t;
  t.kind = kind;
  t.step = step.number;
  t.src = m.src;
  t.dst = m.dst;
  t.bytes = m.bytes + in_front;
  t.start_ns = Times(step, m, m.src).send();
  const Times at(step, m, m.dst);
  t.posted_ns = kind == Kind::am ? at.receiver(0) + 20 : at.post_receive();
  t.end_ns = kind == Kind::am ? t.posted_ns + kHandlerNs : at.receiver(0) + 60;
  t.data_interface = m.control;
  t.path = {{m.control, m.way == Way::eager_short ? "am_short" : "am_bcopy", true, "data", 1,
             t.bytes, t.bytes + 8, true}};
  if (log.shape().options().is_missing(m.dst)) {
    t.unmatched = true;
    t.dst = -1;
    t.posted_ns = t.end_ns = -1;
    t.path.clear();
  }
  return t;
}

// The receiver alone tells of a message whose sender left no log.
void tell_lost_sender(ProcessLog& log, const Step& step, const Message& m, Kind kind,
                      std::uint64_t in_front) {
  if (!log.shape().options().is_missing(m.src)) return;
  TruthMessage t = truth_of(log, step, m, kind, in_front);
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

// Several threads or processes send to one handler what looks alike. What comes from the process
// itself has a transport of its own.
bool is_ambiguous(const Shape& shape, const Step& step, const Message& m) {
  const auto others = static_cast<std::int32_t>(step.slots) - 1;
  return is_alike(step) && (shape.options().lanes > 1 || (m.src != m.dst && others > 1));
}

// What both sides keep of what the program put into a message.
std::uint64_t content_digest(const Step& step, const Message& m) {
  return is_alike(step) ? kSharedBytes : hash_of(m.serial, m.src);
}

void send_active(ProcessLog& log, const Step& step, const Message& m) {
  Lane& lane = log.lane(m.lane);
  const std::int64_t at = Times(step, m, m.src).send();
  const std::uint64_t endpoint = log.ucp_endpoint(m.dst, at);
  const log::Id id = lane.next_ucp_id();
  const std::uint64_t handler = handler_of(log.shape(), step, m);
  UctPost post = post_of(log, m, kProgramHeader, at, id);
  post.am_id = AmId::am_single;
  const char* told = m.way == Way::eager_short ? "" : "am/egr/single/bcopy";
  post.protocol = log.protocol(told);
  lane.uct(post, {handler | kProgramHeader << 32, content_digest(step, m)});
  UcpCall call{.function = log::UcpFunction::am_send_nbx,
               .handle = endpoint,
               .bytes = m.bytes,
               .first = handler,
               .second = kProgramHeader,
               .buffer = log.shape().buffer(m.src, m.lane, m.slot, false, false),
               .begin_ns = at,
               .end_ns = at + 120};
  call.memory = log.memory_of(false);
  lane.ucp(id, call);
  TruthMessage t = truth_of(log, step, m, Kind::am, kProgramHeader);
  t.ambiguous = is_ambiguous(log.shape(), step, m);
  t.told = post.protocol != 0;
  t.protocol = t.told ? told : m.way == Way::eager_short ? "am/eager/short" : "am/eager/bcopy";
  log.truth().add(t);
}

void handle_active(ProcessLog& log, const Step& step, const Message& m) {
  Lane& lane = log.lane(m.lane);
  const std::int64_t at = Times(step, m, m.dst).receiver(0);
  log.ucp_endpoint(m.src, at);
  const std::uint64_t handler = handler_of(log.shape(), step, m);
  const log::Id arrival =
      lane.arrival(m.control, AmId::am_single, 8 + kProgramHeader + m.bytes, at, 200,
                   {handler | kProgramHeader << 32, content_digest(step, m)});
  lane.ucp(lane.next_ucp_id(), {.function = log::UcpFunction::am_handler,
                                .handle = handle::kWorker,
                                .bytes = m.bytes,
                                .first = handler,
                                .second = kProgramHeader,
                                .buffer = 0x7f3000000000,
                                .third = arrival,
                                .begin_ns = at + 20,
                                .end_ns = at + 20 + kHandlerNs});
  tell_lost_sender(log, step, m, Kind::am, kProgramHeader);
}

// --- streams -------------------------------------------------------------------------------------

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
  TruthMessage t = truth_of(log, step, m, Kind::stream, 0);
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
  tell_lost_sender(log, step, m, Kind::stream, 0);
}

}  // namespace

void active_step(ProcessLog& log, const Step& step, std::uint16_t lane) {
  const auto for_each = [&](bool own, auto use) {
    for (std::uint32_t slot = 0; slot < step.slots; ++slot) {
      const Neighbours with = partners(log.shape(), step, slot, log.rank());
      const std::int32_t src = own ? log.rank() : with.from, dst = own ? with.to : log.rank();
      if (src < 0 || dst < 0) continue;
      const auto burst = static_cast<std::uint32_t>(log.shape().options().burst);
      for (std::uint32_t i = 0; i < burst; ++i) {
        Message m = message_of(log.shape(), step, 0, slot, i, src, dst, lane);
        if (step.kind == StepKind::am_shared) m.bytes = kSharedBytes;
        use(log, step, in_one(log.shape(), m, kProgramHeader));
      }
    }
  };
  for_each(true, send_active);
  for_each(false, handle_active);
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

// Partitioned messages as MPICH sends them: by active messages. Making a send tells the receiver of
// it; starting the receive tells the sender that it may send; what makes the last partition ready
// sends the data, or, where nobody had said so yet, the handler that hears of it.
#include <algorithm>

#include "tests/tracegen/active.hpp"
#include "tests/tracegen/process_run.hpp"
#include "tests/tracegen/random.hpp"

namespace uctrace::tracegen {
namespace {

enum Handler : std::uint64_t { kMade = 1, kMaySend = 2, kData = 3 };
constexpr std::uint64_t kHeader = 16, kDataHeader = 24;
constexpr std::int64_t kMakingNs = 400;      // each request
constexpr std::int64_t kOthersNs = 100'000;  // in which other persistent requests are made

// Partitions are ready before the receiver is known to be.
bool is_early(const Step& step) { return (step.choice & 32) != 0; }

ActiveMessage message_with(const Shape& shape, const Step& step, const Message& m, Handler handler,
                           std::uint64_t bytes) {
  ActiveMessage message;
  message.m = m;
  message.m.bytes = bytes;
  message.header_bytes = handler == kData ? kDataHeader : kHeader;
  message.m = in_one(shape, message.m, message.header_bytes);
  message.step = step.number;
  message.handler = handler;
  message.content = hash_of(m.serial, handler, m.src, step.number);
  message.has_comm = true;
  message.comm = step.comm;
  return message;
}

ActiveMessage may_send(const Shape& shape, const Step& step, Message m) {
  const std::int64_t sent = Times(step, m, m.dst).post_receive();
  const Times at(step, m, m.src);
  std::swap(m.src, m.dst);
  ActiveMessage message = message_with(shape, step, m, kMaySend, 16);
  message.mpi = MpiFunction::startall;
  message.sent_ns = sent;
  message.arrived_ns = is_early(step) ? at.send() + step.width / 2 : at.send();
  return message;
}

ActiveMessage data_of(const Shape& shape, const Step& step, const Message& m) {
  const Times at(step, m, m.src), there(step, m, m.dst);
  ActiveMessage message = message_with(shape, step, m, kData, m.bytes);
  message.mpi = MpiFunction::pready;
  message.sent_ns =
      is_early(step) ? may_send(shape, step, m).arrived_ns + 40 : at.receiver(0) + 230;
  message.arrived_ns = there.receiver(is_early(step) ? 0 : 1);
  return message;
}

}  // namespace

std::int64_t making_partitioned_ns(const Shape& shape) {
  const StepKind kind = StepKind::partitioned;
  if (shape.options().weights[static_cast<std::size_t>(kind)] == 0) return 0;
  const std::int64_t requests = persistent_step(shape, kind).per_window;
  return 3 * requests * kMakingNs + kGapNs;
}

void ProcessRun::make_partitioned() {
  const std::int64_t took = making_partitioned_ns(shape_);
  if (took == 0 || shape_.options().mpi != Mpi::mpich) return;
  const Step step = persistent_step(shape_, StepKind::partitioned);
  const std::uint64_t world = shape_.comm_handle(Comm::world);
  for (std::uint16_t lane = 0; lane < log_.lanes(); ++lane) {
    fill_window(step, 0, lane);
    const std::int64_t begin = plan_.begin_ns - kOthersNs - took + kLaneNs * lane;
    const auto made_at = [&](bool receives, const Message& m) {
      return begin + kMakingNs * (m.slot + (receives ? 0 : step.per_window));
    };
    const auto make = [&](bool receives, const Message& m) {
      MpiParts parts = message_parts(step, receives ? m.src : m.dst, m);
      parts.request = persistent_request(step.kind, receives, lane, m.slot);
      const std::int64_t at = made_at(receives, m);
      call(lane, receives ? MpiFunction::precv_init : MpiFunction::psend_init, at,
           at + kMakingNs - 100, world, parts);
    };
    const auto told = [&](const Message& m) {
      ActiveMessage message = message_with(shape_, step, m, kMade, 32);
      message.mpi = MpiFunction::psend_init;
      message.sent_ns = made_at(false, m) + 50;
      message.arrived_ns = message.sent_ns + kMakingNs * step.per_window + kGapNs / 2;
      return message;
    };
    for (const Receiver& r : window_.receivers) make(true, r.message());
    for (const Sender& s : window_.senders) {
      send_active(log_, told(s.message()));
      make(false, s.message());
    }
    for (const Receiver& r : window_.receivers) handle_active(log_, told(r.message()));
  }
}

void ProcessRun::partitioned(const Step& step, std::uint16_t lane) {
  fill_window(step, 0, lane);
  const std::vector<std::uint64_t> requests = persistent_requests(step.kind, lane);
  if (requests.empty()) return;
  const bool early = is_early(step);
  const std::int64_t own = jitter_of(step, log_.rank()) + kLaneNs * lane;
  const std::int64_t start = step.begin_ns + own - 50;
  const std::int64_t started = step.begin_ns + step.send_ns - kGapNs / 2 + own;
  log_.lane(lane).mpi_requests(start, requests);
  for (const Receiver& r : window_.receivers) {
    send_active(log_, may_send(shape_, step, r.message()));
  }
  call(lane, MpiFunction::startall, start, started, 0);
  const auto ready = [&](const Message& m, std::int64_t at, std::int64_t took) {
    MpiParts parts;
    parts.request = persistent_request(step.kind, false, lane, m.slot);
    call(lane, MpiFunction::pready, at, at + took, 0, parts);
  };
  for (const Sender& s : window_.senders) {
    const Message& m = s.message();
    const std::int64_t at = Times(step, m, m.src).send();
    if (early) {
      ready(m, at, 80);
      ready(m, at + 100, 80);
    }
    const log::Id asked = handle_active(log_, may_send(shape_, step, m));
    if (early) send_active(log_, data_of(shape_, step, m), asked);
  }
  for (const Sender& s : window_.senders) {
    if (early) break;
    const ActiveMessage data = data_of(shape_, step, s.message());
    ready(s.message(), data.sent_ns - 230, 150);
    send_active(log_, data);
    ready(s.message(), data.sent_ns - 30, 300);
  }
  const std::int64_t wait = step.begin_ns + step.reply_ns[early ? 0 : 1] + own - kGapNs / 4;
  log_.lane(lane).mpi_requests(wait, requests);
  for (const Receiver& r : window_.receivers) {
    handle_active(log_, data_of(shape_, step, r.message()));
  }
  call(lane, MpiFunction::waitall, wait, step.end_ns() - kGapNs / 2, 0);
}

}  // namespace uctrace::tracegen

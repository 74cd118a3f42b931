// Steps of requests that live longer than a message, or never get one: persistent and cancelled.
#include "tests/tracegen/process_run.hpp"

namespace uctrace::tracegen {

namespace {
Step persistent_step(const Shape& shape) {
  Step step;
  step.kind = StepKind::persistent;
  step.pattern = Pattern::stencil;
  step.slots = slots_of(step.pattern, shape.size());
  step.per_window = step.slots * static_cast<std::uint32_t>(shape.options().burst);
  step.base_bytes = persistent_bytes(shape);
  return step;
}

std::uint64_t persistent_request(bool receives, std::uint16_t lane, std::uint32_t slot) {
  return mpi_request(receives, lane, slot) + 0x1000000;
}
}  // namespace

void ProcessRun::make_persistent() {
  const Step step = persistent_step(shape_);
  if (shape_.options().weights[static_cast<std::size_t>(step.kind)] == 0) return;
  const std::uint64_t world = shape_.comm_handle(Comm::world);
  for (std::uint16_t lane = 0; lane < log_.lanes(); ++lane) {
    fill_window(step, 0, lane);
    std::int64_t at = plan_.begin_ns - 100'000;
    const auto make = [&](MpiFunction function, const Message& m, bool receives) {
      MpiParts parts = message_parts(step, receives ? m.src : m.dst, m);
      parts.request = persistent_request(receives, lane, m.slot);
      call(lane, function, at, at + 50, world, parts);
      at += 60;
    };
    for (const Receiver& r : window_.receivers) make(MpiFunction::recv_init, r.message(), true);
    for (const Sender& s : window_.senders) make(MpiFunction::send_init, s.message(), false);
  }
}

void ProcessRun::persistent(const Step& step, std::uint16_t lane) {
  fill_window(step, 0, lane);
  const Calls calls = calls_of(shape_, step);
  std::vector<std::uint64_t> requests;
  for (const Receiver& r : window_.receivers) {
    requests.push_back(persistent_request(true, lane, r.message().slot));
  }
  for (const Sender& s : window_.senders) {
    requests.push_back(persistent_request(false, lane, s.message().slot));
  }
  if (requests.empty()) return;
  const std::int64_t own = jitter_of(step, log_.rank()) + kLaneNs * lane;
  const std::int64_t start = step.begin_ns + own - 50;
  const std::int64_t wait = step.begin_ns + step.reply_ns[0] + own - kGapNs / 4;
  log_.lane(lane).mpi_requests(start, requests);
  post_receives(calls);
  for (Sender& sender : window_.senders) sender.post(calls);
  call(lane, MpiFunction::startall, start, wait - 100, 0);
  log_.lane(lane).mpi_requests(wait, requests);
  replies(step, calls, 0, kLastPart);
  call(lane, MpiFunction::waitall, wait, step.end_ns() - kGapNs / 2, 0);
  tell_truth(calls);
}

void ProcessRun::free_persistent(std::int64_t at_ns) {
  const Step step = persistent_step(shape_);
  if (shape_.options().weights[static_cast<std::size_t>(step.kind)] == 0) return;
  for (std::uint16_t lane = 0; lane < log_.lanes(); ++lane) {
    fill_window(step, 0, lane);
    std::int64_t at = at_ns;
    const auto free_one = [&](std::uint64_t request) {
      MpiParts parts;
      parts.request = request;
      call(lane, MpiFunction::request_free, at, at + 10, 0, parts);
      at += 12;
    };
    for (const Receiver& r : window_.receivers) {
      free_one(persistent_request(true, lane, r.message().slot));
    }
    for (const Sender& s : window_.senders) {
      free_one(persistent_request(false, lane, s.message().slot));
    }
  }
}

// --- cancelled receives --------------------------------------------------------------------------

void ProcessRun::cancel(const Step& step, std::uint16_t lane) {
  constexpr std::int32_t kNoMessage = -16;  // UCS_ERR_CANCELED
  constexpr std::int32_t kUnusedTag = 19;
  const std::int64_t at = step.begin_ns + jitter_of(step, log_.rank()) + kLaneNs * lane;
  const std::int32_t local = Shape::local_rank(step.comm, log_.rank());
  const std::uint64_t tag = shape_.ucp_tag(step.comm, local, kUnusedTag, false);
  const log::Id id = log_.lane(lane).next_ucp_id();
  UcpCall receive{.function = log::UcpFunction::tag_recv_nbx,
                  .handle = handle::kWorker,
                  .bytes = 64,
                  .first = tag,
                  .second = shape_.tag_mask(false),
                  .buffer = shape_.buffer(log_.rank(), lane, 0, true, false),
                  .third = log_.lane(lane).tick(at),
                  .begin_ns = at,
                  .end_ns = at + 50,
                  .in_progress = true};
  receive.memory = log_.memory_of(false);
  log_.lane(lane).ucp(id, receive);
  MpiParts parts;
  parts.has_peer = parts.has_volume = true;
  parts.peer = local;
  parts.tag = kUnusedTag;
  parts.bytes = 64;
  parts.datatype = handle::kByte;
  parts.request = mpi_request(true, lane, 0xffe);
  call(lane, MpiFunction::irecv, at - 30, at + 80, shape_.comm_handle(step.comm), parts);
  MpiParts request;
  request.request = parts.request;
  log_.lane(lane).received(id, at + 250, kNoMessage, 0, 0, false);
  call(lane, MpiFunction::cancel, at + 200, at + 300, 0, request);
  call(lane, MpiFunction::wait, at + 400, at + 450, 0, request);
  log_.truth().add_cancelled();
}

}  // namespace uctrace::tracegen

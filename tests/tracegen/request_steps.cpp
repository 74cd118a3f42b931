// Steps of requests that live longer than a message, or never get one: persistent and cancelled.
#include "tests/tracegen/process_run.hpp"

namespace uctrace::tracegen {

Step persistent_step(const Shape& shape, StepKind kind) {
  Step step;
  step.kind = kind;
  step.pattern = Pattern::stencil;
  step.slots = slots_of(step.pattern, shape.most_size_of(Comm::world));
  step.per_window = step.slots * static_cast<std::uint32_t>(shape.options().burst);
  step.base_bytes = persistent_bytes(shape);
  return step;
}

std::uint64_t persistent_request(StepKind kind, bool receives, std::uint16_t lane,
                                 std::uint32_t slot) {
  return mpi_request(receives, lane, slot) + (kind == StepKind::persistent ? 0x1000000 : 0x2000000);
}

std::vector<std::uint64_t> ProcessRun::persistent_requests(StepKind kind,
                                                           std::uint16_t lane) const {
  std::vector<std::uint64_t> requests;
  for (const Receiver& r : window_.receivers) {
    requests.push_back(persistent_request(kind, true, lane, r.message().slot));
  }
  for (const Sender& s : window_.senders) {
    requests.push_back(persistent_request(kind, false, lane, s.message().slot));
  }
  return requests;
}

void ProcessRun::make_persistent() {
  const Step step = persistent_step(shape_, StepKind::persistent);
  if (shape_.options().weights[static_cast<std::size_t>(step.kind)] == 0) return;
  const std::uint64_t world = shape_.comm_handle(Comm::world);
  for (std::uint16_t lane = 0; lane < log_.lanes(); ++lane) {
    fill_window(step, 0, lane);
    std::int64_t at = plan_.begin_ns - 100'000;
    const auto make = [&](MpiFunction function, const Message& m, bool receives) {
      MpiParts parts = message_parts(step, receives ? m.src : m.dst, m);
      parts.request = persistent_request(step.kind, receives, lane, m.slot);
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
  const std::vector<std::uint64_t> requests = persistent_requests(step.kind, lane);
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
  free_requests(StepKind::persistent, at_ns);
  free_requests(StepKind::partitioned, at_ns + 60'000);
}

void ProcessRun::free_requests(StepKind kind, std::int64_t at_ns) {
  const Step step = persistent_step(shape_, kind);
  if (shape_.options().weights[static_cast<std::size_t>(step.kind)] == 0) return;
  for (std::uint16_t lane = 0; lane < log_.lanes(); ++lane) {
    fill_window(step, 0, lane);
    std::int64_t at = at_ns;
    for (const std::uint64_t request : persistent_requests(kind, lane)) {
      MpiParts parts;
      parts.request = request;
      call(lane, MpiFunction::request_free, at, at + 10, 0, parts);
      at += 12;
    }
  }
}

// --- cancelled receives --------------------------------------------------------------------------

void ProcessRun::cancel(const Step& step, std::uint16_t lane) {
  constexpr std::int32_t kNoMessage = -16;  // UCS_ERR_CANCELED
  constexpr std::int32_t kUnusedTag = 19;
  const std::int64_t at = step.begin_ns + jitter_of(step, log_.rank()) + kLaneNs * lane;
  const std::int32_t local = shape_.local_rank(step.comm, log_.rank());
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

// Where the messages of a process are among its calls.
#include <algorithm>

#include "log-merger/exports/otf2_mpi_names.hpp"
#include "log-merger/exports/otf2_process.hpp"

namespace uctrace::exports {
namespace {

std::int64_t within(const MpiCallRow& call, std::int64_t time_ns) {
  const std::int64_t end_ns = call.t_end_ns < 0 ? INT64_MAX : call.t_end_ns;
  return std::clamp(time_ns, call.t_start_ns, std::max(call.t_start_ns, end_ns));
}

}  // namespace

void Otf2Process::add(std::int64_t call, Point point) {
  const std::uint32_t lane = call < 0 ? 0 : calls_[static_cast<std::size_t>(call)].lane;
  thread(lane).points.push_back(point);
}

void Otf2Process::add_sends() {
  const std::span<const std::uint32_t> asked = shared_.messages_of.asked_by(process_);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Message message = shared_.messages.row(asked[i]);
    add_send(message, asked[i], completed_ns_[i]);
  }
}

// Of partitions of which the last became ready, where the user wants them.
std::optional<std::int64_t> Otf2Process::place_of_send(const Message& message) {
  const std::int64_t call = message.call - static_cast<std::int64_t>(first_call_);
  const bool is_ours = message.call >= 0 && call >= 0 &&
                       call < static_cast<std::int64_t>(calls_.size()) &&
                       calls_[static_cast<std::size_t>(call)].t_start_ns >= 0;
  if (!is_ours) return -1;
  if (!makes_partitions_ready(shared_.text(message.mpi))) return call;
  if (shared_.p2p_mirror == P2pMirror::none) return std::nullopt;
  return shared_.p2p_mirror == P2pMirror::start ? start_before(call) : call;
}

// The last call before it that starts requests: which ones, rows do not tell.
std::int64_t Otf2Process::start_before(std::int64_t call) const {
  const MpiCallRow& ready = calls_[static_cast<std::size_t>(call)];
  for (auto start = starts_.rbegin(); start != starts_.rend(); ++start) {
    const MpiCallRow& candidate = calls_[*start];
    if (candidate.t_start_ns > ready.t_start_ns) continue;
    const bool may_be = candidate.communicator < 0 || candidate.communicator == ready.communicator;
    if (may_be) return *start;
  }
  return call;
}

Otf2Process::Point Otf2Process::point_of(const Message& message, std::uint64_t number,
                                         std::int32_t peer_process) {
  const OTF2_CommRef comm = shared_.communicators.common(
      message.communicator, static_cast<std::int32_t>(process_), peer_process);
  return {.time_ns = 0,
          .call = -1,
          .kind = PointKind::send,
          .match = message.match,
          .comm = comm,
          .peer = shared_.communicators.rank(comm, peer_process),
          .tag = message.has_tag ? static_cast<std::uint32_t>(message.tag) : OTF2_UNDEFINED_UINT32,
          .bytes = message.bytes,
          .message = number,
          .wire_bytes = 0,
          .protocol = message.protocol,
          .transports = OTF2_UNDEFINED_STRING};
}

void Otf2Process::add_path(const Message& message, Point& point) {
  std::vector<TextId> transports;
  for (const Hop& hop : shared_.paths(message)) {
    if (hop.role != Role::data) continue;
    point.wire_bytes += hop.wire_bytes;
    const bool is_known =
        std::find(transports.begin(), transports.end(), hop.transport) != transports.end();
    if (!is_known) transports.push_back(hop.transport);
  }
  if (transports.empty()) return;
  std::string names;
  for (const TextId transport : transports) {
    if (!names.empty()) names += ',';
    names += shared_.text(transport);
  }
  point.transports = shared_.strings.id_of(names);
}

void Otf2Process::add_send(const Message& message, std::uint64_t number,
                           std::int64_t completed_ns) {
  const std::optional<std::int64_t> call = place_of_send(message);
  if (!call) {
    ++shared_.not_mirrored;
    return;
  }
  const bool asks_for_data = message.initiator == Side::dst;
  Point point =
      point_of(message, number, asks_for_data ? message.src_process : message.dst_process);
  add_path(message, point);
  point.call = *call;
  point.time_ns = *call < 0 ? message.t_start_ns
                            : within(calls_[static_cast<std::size_t>(*call)], message.t_start_ns);
  if (is_one_sided(message.kind)) {
    point.kind = message.kind == MessageKind::put   ? PointKind::put
                 : message.kind == MessageKind::get ? PointKind::get
                                                    : PointKind::atomic;
    add(*call, point);
    if (message.t_end_ns < 0) return;
    point.kind = PointKind::rma_complete;
    point.time_ns = std::max(point.time_ns, message.t_end_ns);
  } else if (is_blocking(shared_.text(message.mpi))) {
    return add(*call, point);
  } else {
    point.kind = PointKind::isend;
    add(*call, point);
    if (completed_ns < 0) return;
    point.kind = PointKind::isend_complete;
    point.time_ns = std::max(point.time_ns, completed_ns);
  }
  const std::int64_t in = *call;
  point.call = -1;
  add(in, point);
}

void Otf2Process::add_receives() {
  for (const std::uint32_t number : shared_.messages_of.received_by(process_)) {
    const Message message = shared_.messages.row(number);
    add_receive(message, number);
  }
}

// The call that posted the receive: of the function that did, at the time when it was.
std::int64_t Otf2Process::receiving_call(const Message& message) {
  if (message.t_posted_recv_ns < 0) return -1;
  for (const auto& [lane, thread] : threads_) {
    const auto after =
        std::upper_bound(thread.calls.begin(), thread.calls.end(), message.t_posted_recv_ns,
                         [&](std::int64_t time_ns, std::uint32_t call) {
                           return time_ns < calls_[call].t_start_ns;
                         });
    if (after == thread.calls.begin()) continue;
    const std::uint32_t call = *std::prev(after);
    const MpiCallRow& row = calls_[call];
    const bool is_in = row.t_end_ns < 0 || message.t_posted_recv_ns <= row.t_end_ns;
    if (is_in && (message.mpi_recv == kNoText || row.function == message.mpi_recv)) return call;
  }
  return -1;
}

void Otf2Process::add_receive(const Message& message, std::uint64_t number) {
  const std::int64_t call = receiving_call(message);
  Point point = point_of(message, number, message.src_process);
  point.time_ns = message.t_end_ns;
  const bool is_posted =
      call >= 0 && message.mpi_recv != kNoText && !is_blocking(shared_.text(message.mpi_recv));
  if (!is_posted) {
    point.kind = PointKind::recv;
    point.call = call;
    if (call >= 0) {
      point.time_ns = within(calls_[static_cast<std::size_t>(call)], message.t_end_ns);
    }
    return add(call, point);
  }
  Point request = point;
  request.kind = PointKind::irecv_request;
  request.call = call;
  request.time_ns = within(calls_[static_cast<std::size_t>(call)], message.t_posted_recv_ns);
  add(call, request);
  point.kind = PointKind::irecv;
  point.time_ns = std::max(point.time_ns, request.time_ns);
  add(call, point);
}

}  // namespace uctrace::exports

// Where the messages of a process are among its calls.
#include <algorithm>

#include "log-merger/exports/otf2_mpi_names.hpp"
#include "log-merger/exports/otf2_process.hpp"

namespace uctrace::exports {

std::int64_t Otf2Process::own_call(std::int64_t row) const {
  const std::int64_t call = row - static_cast<std::int64_t>(first_call_);
  const bool is_ours = row >= 0 && call >= 0 && call < static_cast<std::int64_t>(calls_.size()) &&
                       calls_[static_cast<std::size_t>(call)].t_start_ns >= 0;
  return is_ours ? call : -1;
}

std::int64_t Otf2Process::within(std::int64_t call, std::int64_t time_ns) const {
  const MpiCallRow& row = calls_[static_cast<std::size_t>(call)];
  const std::int64_t end_ns = row.t_end_ns < 0 ? INT64_MAX : row.t_end_ns;
  return std::clamp(time_ns, row.t_start_ns, std::max(row.t_start_ns, end_ns));
}

void Otf2Process::add(std::int64_t call, Point point) {
  const std::uint32_t lane = call < 0 ? 0 : calls_[static_cast<std::size_t>(call)].lane;
  thread(lane).points.push_back(point);
}

void Otf2Process::add_sends() {
  for (std::size_t i = 0; i < asked_.size(); ++i) add_send(asked_[i], completed_ns_[i]);
}

// For partitions: where the last of them became ready, or as the user chose. A send of a part of
// its request stays where its own partitions became ready.
std::optional<std::int64_t> Otf2Process::place_of_send(const MessageEnd& message) {
  const std::int64_t call = own_call(message.call);
  if (call < 0 || !makes_partitions_ready(shared_.text(message.mpi))) return call;
  if (shared_.p2p_mirror == P2pMirror::none) return std::nullopt;
  const std::optional<PartitionOperation> use = made_ready_by(call);
  std::int64_t place = -1;
  if (shared_.p2p_mirror == P2pMirror::start) {
    if (use) place = own_call(use->start_call);
    if (place < 0) ++shared_.not_at_start;
  } else if (use) {
    const auto request = static_cast<std::size_t>(use->request);
    const bool is_all = message.bytes == shared_.source.run().partition_requests[request].bytes;
    if (is_all) place = own_call(use->ready_call);
  }
  return place < 0 ? call : place;
}

std::optional<PartitionOperation> Otf2Process::made_ready_by(std::int64_t call) {
  const std::int64_t row = call + static_cast<std::int64_t>(first_call_);
  const auto event = std::lower_bound(
      events_.begin(), events_.end(), row,
      [](const PartitionEvent& one, std::int64_t wanted) { return one.call < wanted; });
  const bool is_known = event != events_.end() && event->call == row && event->operation >= 0 &&
                        event->kind == PartitionEventKind::pready;
  if (!is_known) return std::nullopt;
  return shared_.partition_operations.row(static_cast<std::size_t>(event->operation));
}

Otf2Process::Point Otf2Process::point_of(const MessageEnd& message) {
  const OTF2_CommRef comm = shared_.communicators.common(
      message.communicator, static_cast<std::int32_t>(process_), message.peer_process);
  return {.at = {},
          .kind = PointKind::send,
          .match = message.match,
          .comm = comm,
          .peer = shared_.communicators.rank(comm, message.peer_process),
          .tag = message.tag,
          .row = message.message,
          .bytes = message.bytes,
          .wire_bytes = message.wire_bytes,
          .protocol = message.protocol,
          .transports = message.transports};
}

void Otf2Process::add_send(const MessageEnd& message, std::int64_t completed_ns) {
  const std::optional<std::int64_t> call = place_of_send(message);
  if (!call) {
    ++shared_.not_mirrored;
    return;
  }
  Point point = point_of(message);
  point.at = {*call < 0 ? message.t_start_ns : within(*call, message.t_start_ns), *call};
  if (is_one_sided(message.kind)) {
    point.kind = message.kind == MessageKind::put   ? PointKind::put
                 : message.kind == MessageKind::get ? PointKind::get
                                                    : PointKind::atomic;
    add(*call, point);
    if (message.t_end_ns < 0) return;
    point.kind = PointKind::rma_complete;
    point.at.ns = std::max(point.at.ns, message.t_end_ns);
  } else if (is_blocking(shared_.text(message.mpi))) {
    return add(*call, point);
  } else {
    point.kind = PointKind::isend;
    add(*call, point);
    if (completed_ns < 0) return;
    point.kind = PointKind::isend_complete;
    point.at.ns = std::max(point.at.ns, completed_ns);
  }
  point.at.call = -1;
  add(*call, point);
}

void Otf2Process::add_receives() {
  for (const MessageEnd& message : shared_.messages_of.received_by(process_)) add_receive(message);
}

// The call that posted the receive, by function and time.
std::int64_t Otf2Process::receiving_call(const MessageEnd& message) {
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

void Otf2Process::add_receive(const MessageEnd& message) {
  const std::int64_t call = receiving_call(message);
  Point point = point_of(message);
  const bool is_posted =
      call >= 0 && message.mpi_recv != kNoText && !is_blocking(shared_.text(message.mpi_recv));
  if (!is_posted) {
    point.kind = PointKind::recv;
    point.at = {call < 0 ? message.t_end_ns : within(call, message.t_end_ns), call};
    return add(call, point);
  }
  point.kind = PointKind::irecv_request;
  point.at = {within(call, message.t_posted_recv_ns), call};
  add(call, point);
  point.kind = PointKind::irecv;
  point.at = {std::max(point.at.ns, message.t_end_ns), -1};
  add(call, point);
}

}  // namespace uctrace::exports

#include "log-merger/exports/otf2_process.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "log-merger/exports/otf2_mpi_names.hpp"
#include "log-merger/summaries/time_window.hpp"

namespace uctrace::exports {

OTF2_LocationRef Otf2Process::write(const RowsToWrite& rows) {
  const OTF2_LocationRef location = thread(0).location;
  load_calls(rows.mpi_calls);
  load_notes(rows.waits, rows.partition_events);
  asked_ = shared_.messages_of.asked_by(process_);
  completed_ns_.assign(asked_.size(), -1);
  write_operations(rows.ucp_operations);
  write_transfers(rows.transfers);
  add_notes();
  add_begun_collectives(rows.begun_collectives);
  add_sends();
  add_receives();
  for (auto& [lane, thread] : threads_) write_thread(thread);
  for (const auto& [name, operations] : operations_) {
    for (const OTF2_LocationRef lane : operations.locations) shared_.archive.end_location(lane);
  }
  return location;
}

Otf2Process::Thread& Otf2Process::thread(std::uint32_t lane) {
  const auto found = threads_.find(lane);
  if (found != threads_.end()) return found->second;
  const OTF2_LocationRef location = shared_.archive.add_location(
      fmt::format("MPI thread {}", lane), OTF2_LOCATION_TYPE_CPU_THREAD, process_);
  return threads_.emplace(lane, Thread{location, {}, {}}).first->second;
}

void Otf2Process::load_calls(RowsOfProcess rows) {
  first_call_ = rows.first;
  calls_.reserve(rows.end - rows.first);
  const auto add_call = [&](const MpiCallRow& call, std::size_t) {
    const auto number = static_cast<std::uint32_t>(calls_.size());
    calls_.push_back(call);
    if (call.t_start_ns < 0) {
      ++shared_.without_time;
      return;
    }
    if (call.t_end_ns < 0) ++shared_.not_returned;
    thread(call.lane).calls.push_back(number);
  };
  for_each_of_process(shared_.source, rows, Wanted<MpiCallRow>::all(), add_call);
}

// --- operations ----------------------------------------------------------------------------------

void Otf2Process::write_operations(RowsOfProcess rows) {
  const auto write_row = [&](const UcpOperationRow& row, std::size_t) {
    if (row.t_start_ns < 0) {
      ++shared_.without_time;
      return;
    }
    const std::string& function = shared_.text(row.function);
    if (row.message >= 0 && function.find("_recv") == std::string::npos) {
      const auto place = std::lower_bound(
          asked_.begin(), asked_.end(), row.message,
          [](const MessageEnd& end, std::int64_t message) { return end.message < message; });
      if (place != asked_.end() && place->message == row.message) {
        completed_ns_[static_cast<std::size_t>(place - asked_.begin())] = row.t_end_ns;
      }
    }
    attributes_.text(Attribute::protocol, shared_.text(row.protocol))
        .text(Attribute::asked_by, shared_.text(row.asked_by))
        .text(Attribute::progressed_in, shared_.text(row.progressed_in))
        .text(Attribute::memory, row.memory == MemoryKind::unknown ? "" : name_of(row.memory))
        .count(Attribute::bytes, row.bytes);
    if (row.message >= 0) {
      attributes_.count(Attribute::message, static_cast<std::uint64_t>(row.message));
    }
    if (row.t_end_ns < 0) attributes_.text(Attribute::end, "not known");
    write_span("UCP", function, Layer::ucp, row.t_start_ns, row.t_end_ns);
  };
  for_each_by_start<UcpOperationRow>(shared_.source, rows, write_row);
}

void Otf2Process::write_transfers(RowsOfProcess rows) {
  const auto write_row = [&](const Transfer& transfer, std::size_t) {
    if (transfer.t_start_ns < 0) {
      ++shared_.without_time;
      return;
    }
    const std::string &transport = shared_.text(transfer.transport),
                      &device = shared_.text(transfer.device);
    attributes_.text(Attribute::transport, transport)
        .text(Attribute::device, device)
        .text(Attribute::role, name_of(transfer.role))
        .text(Attribute::progressed_in, shared_.text(transfer.progressed_in))
        .count(Attribute::payload_bytes, transfer.payload_bytes)
        .count(Attribute::wire_bytes, transfer.wire_bytes);
    if (transfer.message >= 0) {
      attributes_.count(Attribute::message, static_cast<std::uint64_t>(transfer.message));
    }
    if (transfer.t_complete_ns < 0) attributes_.text(Attribute::end, "of the posting call");
    write_span(fmt::format("UCT {} {}", transport, device), shared_.text(transfer.op), Layer::uct,
               transfer.t_start_ns, end_of(transfer));
  };
  for_each_by_start<Transfer>(shared_.source, rows, write_row);
}

// Writes on the first location of the group that is free for the duration; an operation without an
// end takes no time.
void Otf2Process::write_span(const std::string& group, const std::string& function, Layer layer,
                             std::int64_t start_ns, std::int64_t end_ns) {
  Operations& operations = operations_[group];
  const std::int64_t until_ns = std::max(start_ns, end_ns);
  const std::size_t lane = operations.lanes.take(start_ns, until_ns);
  if (lane == operations.locations.size()) {
    operations.locations.push_back(shared_.archive.add_location(
        fmt::format("{} {}", group, lane), OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, process_));
  }
  OTF2_EvtWriter* const events = shared_.archive.writer_of(operations.locations[lane]);
  const OTF2_RegionRef region = shared_.regions.id_of(shared_.strings.id_of(function), layer);
  check(OTF2_EvtWriter_Enter(events, attributes_.list(), static_cast<OTF2_TimeStamp>(start_ns),
                             region));
  check(OTF2_EvtWriter_Leave(events, nullptr, static_cast<OTF2_TimeStamp>(until_ns), region));
}

// --- threads -------------------------------------------------------------------------------------

void Otf2Process::write_thread(Thread& thread) {
  std::stable_sort(thread.points.begin(), thread.points.end(),
                   [](const Point& a, const Point& b) { return a.at < b.at; });
  Writer writer{shared_.archive.writer_of(thread.location)};
  auto point = thread.points.cbegin();
  const auto end = thread.points.cend();
  for (const std::uint32_t number : thread.calls) {
    const MpiCallRow& call = calls_[number];
    while (point != end && point->at.call < 0 && point->at.ns < call.t_start_ns) {
      write_point(writer, *point++);
    }
    const auto first = point;
    const auto is_inside = [&](const RecordTime& at) {
      return at.call < 0 ? call.t_end_ns < 0 || at.ns <= call.t_end_ns
                         : at.call <= static_cast<std::int64_t>(number);
    };
    while (point != end && is_inside(point->at)) ++point;
    write_call(writer, number, std::span(first, point));
  }
  while (point != end) write_point(writer, *point++);
  shared_.archive.end_location(thread.location);
}

OTF2_TimeStamp Otf2Process::next(Writer& writer, std::int64_t time_ns) {
  if (time_ns < writer.last_ns) ++shared_.moved;
  writer.last_ns = std::max(writer.last_ns, time_ns);
  return static_cast<OTF2_TimeStamp>(writer.last_ns);
}

void Otf2Process::write_call(Writer& writer, std::uint32_t number, std::span<const Point> inside) {
  const MpiCallRow& call = calls_[number];
  const std::string& function = shared_.text(call.function);
  const OTF2_RegionRef region = shared_.regions.id_of(shared_.strings.id_of(function), Layer::mpi);
  describe(call);
  describe_notes(number);
  check(OTF2_EvtWriter_Enter(writer.events, attributes_.list(), next(writer, call.t_start_ns),
                             region));
  const bool is_collective =
      is_blocking(function) && call.t_end_ns >= 0 && is_known_collective(call);
  if (is_collective) {
    check(OTF2_EvtWriter_MpiCollectiveBegin(writer.events, nullptr, next(writer, call.t_start_ns)));
  }
  for (const Point& point : inside) write_point(writer, point);
  // A call that had not returned lasts until the end of the known run.
  const std::int64_t end_ns = call.t_end_ns >= 0 ? call.t_end_ns : shared_.source.run().last_ns;
  if (is_collective) write_collective_end(writer, call, end_ns);
  check(OTF2_EvtWriter_Leave(writer.events, nullptr, next(writer, end_ns), region));
}

void Otf2Process::describe(const MpiCallRow& call) {
  const OTF2_CommRef comm = shared_.communicators.of(call.communicator);
  attributes_.comm(Attribute::communicator, comm)
      .number(Attribute::peer, call.peer)
      .number(Attribute::tag, call.tag);
  if (call.bytes != 0) attributes_.count(Attribute::bytes, call.bytes);
  if (call.recv_bytes != 0) attributes_.count(Attribute::receive_bytes, call.recv_bytes);
  if (call.t_end_ns < 0) attributes_.text(Attribute::end, "it had not returned");
  describe_stack(call.stack);
}

void Otf2Process::describe_stack(std::int32_t stack) {
  if (stack < 0) return;
  const CallStack& row = shared_.source.run().stacks[static_cast<std::size_t>(stack)];
  if (row.frames != 0) attributes_.call_path(shared_.call_paths.path_of(stack));
  if (row.call_site < 0) return;
  const OTF2_SourceCodeLocationRef site = shared_.call_paths.site_of(row.call_site);
  if (site != OTF2_UNDEFINED_SOURCE_CODE_LOCATION) attributes_.call_site(site);
}

void Otf2Process::write_point(Writer& writer, const Point& point) {
  if (is_note(point)) return write_note(writer, point);
  if (is_of_collective(point)) return write_begun_collective(writer, point);
  const OTF2_TimeStamp time = next(writer, point.at.ns);
  // A message of a process to itself has two requests on one location.
  const bool receives = point.kind == PointKind::irecv_request || point.kind == PointKind::irecv;
  const std::uint64_t request = 2 * point.row + (receives ? 1 : 0);
  const auto win = static_cast<OTF2_RmaWinRef>(point.comm);  // one for each communicator
  OTF2_EvtWriter* const events = writer.events;
  attributes_.count(Attribute::message, point.row);
  if (point.match != Match::exact) attributes_.text(Attribute::match, name_of(point.match));
  if (point.transports != OTF2_UNDEFINED_STRING) {
    attributes_.text(Attribute::protocol, shared_.text(point.protocol))
        .text(Attribute::transport, shared_.strings.all()[point.transports])
        .count(Attribute::wire_bytes, point.wire_bytes);
  }
  OTF2_AttributeList* const list = attributes_.list();
  switch (point.kind) {
    case PointKind::send:
      return check(OTF2_EvtWriter_MpiSend(events, list, time, point.peer, point.comm, point.tag,
                                          point.bytes));
    case PointKind::isend:
      return check(OTF2_EvtWriter_MpiIsend(events, list, time, point.peer, point.comm, point.tag,
                                           point.bytes, request));
    case PointKind::isend_complete:
      return check(OTF2_EvtWriter_MpiIsendComplete(events, list, time, request));
    case PointKind::irecv_request:
      return check(OTF2_EvtWriter_MpiIrecvRequest(events, list, time, request));
    case PointKind::recv:
      return check(OTF2_EvtWriter_MpiRecv(events, list, time, point.peer, point.comm, point.tag,
                                          point.bytes));
    case PointKind::irecv:
      return check(OTF2_EvtWriter_MpiIrecv(events, list, time, point.peer, point.comm, point.tag,
                                           point.bytes, request));
    case PointKind::put:
      return check(
          OTF2_EvtWriter_RmaPut(events, list, time, win, point.peer, point.bytes, request));
    case PointKind::get:
      return check(
          OTF2_EvtWriter_RmaGet(events, list, time, win, point.peer, point.bytes, request));
    case PointKind::atomic:
      return check(OTF2_EvtWriter_RmaAtomic(events, list, time, win, point.peer,
                                            OTF2_RMA_ATOMIC_TYPE_ACCUMULATE, point.bytes, 0,
                                            request));
    case PointKind::rma_complete:
      return check(OTF2_EvtWriter_RmaOpCompleteRemote(events, list, time, win, request));
    case PointKind::collective_request:
    case PointKind::collective_complete:
    case PointKind::wait:
    case PointKind::partition_event:
      return;  // no message
  }
}

}  // namespace uctrace::exports

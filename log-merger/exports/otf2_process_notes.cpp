// Information about calls besides their arguments: their waits and their events of partitioned
// communication. If a call has only one, it becomes attributes of the Enter record. If it has
// several, each becomes a note inside the call, because a record can have an attribute only once.
#include <algorithm>

#include "log-merger/exports/otf2_mpi_names.hpp"
#include "log-merger/exports/otf2_process.hpp"

namespace uctrace::exports {
namespace {

template <typename Row>
std::span<const Row> of_call(const std::vector<Row>& rows, std::int64_t call) {
  const auto first =
      std::lower_bound(rows.begin(), rows.end(), call,
                       [](const Row& row, std::int64_t wanted) { return row.call < wanted; });
  auto end = first;
  while (end != rows.end() && end->call == call) ++end;
  return std::span(first, end);
}

}  // namespace

void Otf2Process::load_notes(RowsOfProcess waits, RowsOfProcess partition_events) {
  for_each_of_process(shared_.source, waits, Wanted<Wait>::all(),
                      [&](const Wait& wait, std::size_t) { waits_.push_back(wait); });
  for_each_of_process(shared_.source, partition_events, Wanted<PartitionEvent>::all(),
                      [&](const PartitionEvent& event, std::size_t) { events_.push_back(event); });
  const auto by_call = [](const auto& a, const auto& b) { return a.call < b.call; };
  std::stable_sort(waits_.begin(), waits_.end(), by_call);
  std::stable_sort(events_.begin(), events_.end(), by_call);
}

void Otf2Process::add_notes() {
  const auto add_each = [&](const auto& rows, PointKind kind, auto time_of) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool is_only = (i == 0 || rows[i - 1].call != rows[i].call) &&
                           (i + 1 == rows.size() || rows[i + 1].call != rows[i].call);
      const std::int64_t call = own_call(rows[i].call);
      if (is_only || call < 0) continue;
      Point note;
      note.at = {within(call, time_of(rows[i])), call};
      note.kind = kind;
      note.row = i;
      add(call, note);
    }
  };
  add_each(waits_, PointKind::wait, [](const Wait& wait) { return wait.t_start_ns; });
  add_each(events_, PointKind::partition_event,
           [](const PartitionEvent& event) { return event.t_ns; });
}

void Otf2Process::describe_notes(std::int64_t call) {
  const std::int64_t row = call + static_cast<std::int64_t>(first_call_);
  const std::span<const PartitionEvent> events = of_call(events_, row);
  if (events.size() == 1) describe_event(events.front());
  const std::span<const Wait> waits = of_call(waits_, row);
  if (waits.size() == 1) return describe_wait(waits.front());
  // For several, the sum of the waiting time.
  std::uint64_t ns = 0, unknown_ns = 0;
  for (const Wait& wait : waits) {
    if (is_waiting(wait.kind)) ns += static_cast<std::uint64_t>(wait.ns);
    unknown_ns += static_cast<std::uint64_t>(wait.unknown_ns);
  }
  if (ns != 0) attributes_.count(Attribute::wait_ns, ns);
  if (unknown_ns != 0) attributes_.count(Attribute::wait_unknown_ns, unknown_ns);
}

void Otf2Process::describe_wait(const Wait& wait) {
  attributes_.text(Attribute::wait_kind, name_of(wait.kind))
      .count(Attribute::wait_ns, static_cast<std::uint64_t>(wait.ns));
  if (wait.cause_process >= 0) {
    const auto cause = static_cast<std::size_t>(wait.cause_process);
    attributes_.number(Attribute::wait_rank, shared_.source.run().processes[cause].rank);
  }
  if (wait.unknown == WaitUnknown::none) return;
  attributes_.text(Attribute::wait_unknown, name_of(wait.unknown))
      .count(Attribute::wait_unknown_ns, static_cast<std::uint64_t>(wait.unknown_ns));
}

void Otf2Process::describe_event(const PartitionEvent& event) {
  attributes_.text(Attribute::part_event, paper_name_of(event.kind))
      .count(Attribute::part_request, static_cast<std::uint64_t>(event.request));
  if (event.partition >= 0) {
    attributes_.count32(Attribute::part_partition, static_cast<std::uint32_t>(event.partition));
  }
  const bool makes_request =
      event.kind == PartitionEventKind::psend_init || event.kind == PartitionEventKind::precv_init;
  if (!makes_request) return;
  const PartitionRequest& request =
      shared_.source.run().partition_requests[static_cast<std::size_t>(event.request)];
  attributes_.count32(Attribute::part_partitions, request.partitions)
      .number(Attribute::part_peer, request.peer)
      .number(Attribute::part_tag, request.tag)
      .comm(Attribute::part_comm, shared_.communicators.of(request.communicator))
      .count(Attribute::part_bytes, request.bytes);
}

void Otf2Process::write_note(Writer& writer, const Point& point) {
  const bool is_wait = point.kind == PointKind::wait;
  const OTF2_RegionRef region = shared_.regions.id_of(
      shared_.strings.id_of(is_wait ? "uctrace.wait" : "mpi.part.event"), Layer::note);
  is_wait ? describe_wait(waits_[point.row]) : describe_event(events_[point.row]);
  const OTF2_TimeStamp time = next(writer, point.at.ns);
  check(OTF2_EvtWriter_Enter(writer.events, attributes_.list(), time, region));
  check(OTF2_EvtWriter_Leave(writer.events, nullptr, time, region));
}

}  // namespace uctrace::exports

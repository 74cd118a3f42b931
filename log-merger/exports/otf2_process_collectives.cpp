// Collective operations of a process: blocking ones, and those begun by one call and completed by
// another.
#include "log-merger/exports/otf2_mpi_names.hpp"
#include "log-merger/exports/otf2_process.hpp"

namespace uctrace::exports {

// OTF2's record of a finished operation, by the call that has its arguments.
Otf2Process::CollectiveEnd Otf2Process::end_of_collective(const MpiCallRow& call) const {
  const OTF2_CommRef comm = shared_.communicators.of(call.communicator);
  return {*collective_of(shared_.text(call.function)), comm,
          shared_.communicators.rank_of_world_rank(comm, call.peer)};
}

bool Otf2Process::is_known_collective(const MpiCallRow& call) const {
  return collective_of(shared_.text(call.function)) &&
         shared_.communicators.of(call.communicator) != OTF2_UNDEFINED_COMM;
}

void Otf2Process::write_collective_end(Writer& writer, const MpiCallRow& call,
                                       std::int64_t end_ns) {
  const CollectiveEnd end = end_of_collective(call);
  check(OTF2_EvtWriter_MpiCollectiveEnd(writer.events, nullptr, next(writer, end_ns), end.op,
                                        end.comm, end.root, call.bytes, call.recv_bytes));
}

void Otf2Process::add_begun_collectives(RowsOfProcess rows) {
  first_begun_ = rows.first;
  const auto add_row = [&](const BegunCollective& row, std::size_t) {
    begun_.push_back(row);
    const std::int64_t begun = own_call(row.begun), made = own_call(row.made);
    if (begun < 0 || made < 0) return;  // reported as a call without a start
    if (!is_known_collective(calls_[static_cast<std::size_t>(made)])) return;
    Point point;
    point.kind = PointKind::collective_request;
    point.row = begun_.size() - 1;
    point.at = {calls_[static_cast<std::size_t>(begun)].t_start_ns, begun};
    add(begun, point);
    const std::int64_t completed = own_call(row.completed);
    if (completed < 0 || calls_[static_cast<std::size_t>(completed)].t_end_ns < 0) {
      ++shared_.not_completed;
      return;
    }
    point.kind = PointKind::collective_complete;
    const std::int64_t end_ns = calls_[static_cast<std::size_t>(completed)].t_end_ns;
    point.at = {within(completed, end_ns), completed};
    add(completed, point);
  };
  for_each_of_process(shared_.source, rows, Wanted<BegunCollective>::all(), add_row);
}

void Otf2Process::write_begun_collective(Writer& writer, const Point& point) {
  const OTF2_TimeStamp time = next(writer, point.at.ns);
  const BegunCollective& row = begun_[point.row];
  // After the requests of messages (write_point).
  const std::uint64_t request = 2 * shared_.source.count<Message>() + first_begun_ + point.row;
  if (point.kind == PointKind::collective_request) {
    return check(
        OTF2_EvtWriter_NonBlockingCollectiveRequest(writer.events, nullptr, time, request));
  }
  const CollectiveEnd end = end_of_collective(calls_[static_cast<std::size_t>(own_call(row.made))]);
  check(OTF2_EvtWriter_NonBlockingCollectiveComplete(writer.events, nullptr, time, end.op, end.comm,
                                                     end.root, row.bytes, row.recv_bytes, request));
}

}  // namespace uctrace::exports

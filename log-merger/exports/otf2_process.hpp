// The events of one process. Only otf2*.cpp include this.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "log-merger/exports/export.hpp"
#include "log-merger/exports/lanes.hpp"
#include "log-merger/exports/otf2_archive.hpp"
#include "log-merger/exports/otf2_attributes.hpp"
#include "log-merger/exports/otf2_call_paths.hpp"
#include "log-merger/exports/otf2_communicators.hpp"
#include "log-merger/exports/otf2_messages.hpp"
#include "log-merger/exports/record_time.hpp"
#include "log-merger/exports/rows_of_processes.hpp"

namespace uctrace::exports {

// What all processes share.
struct Otf2Shared {
  const RowSource& source;
  const P2pMirror p2p_mirror;
  Otf2Archive& archive;
  Otf2Strings& strings;
  Otf2Regions& regions;
  Otf2CallPaths& call_paths;
  const Otf2Communicators& communicators;
  const MessagesOfProcesses& messages_of;
  RowWindow<PartitionOperation>& partition_operations;
  // Things that the archive cannot express.
  std::uint64_t without_time = 0, not_returned = 0, moved = 0, not_mirrored = 0, not_at_start = 0;
  std::uint64_t not_completed = 0;  // non-blocking collective operations

  const std::string& text(TextId id) const { return source.run().texts[id]; }
};

// Where the rows of one process are.
struct RowsToWrite {
  RowsOfProcess mpi_calls, ucp_operations, transfers, waits, partition_events, begun_collectives;
};

class Otf2Process {
 public:
  Otf2Process(Otf2Shared& shared, std::uint32_t process)
      : shared_(shared), attributes_(shared.strings), process_(process) {}

  // Returns the location that represents the process for others; it always exists.
  OTF2_LocationRef write(const RowsToWrite& rows);

 private:
  enum class PointKind : std::uint8_t {
    send,
    isend,
    isend_complete,
    irecv_request,
    recv,
    irecv,
    put,
    get,
    atomic,
    rma_complete,
    collective_request,
    collective_complete,
    wait,
    partition_event,
  };
  // A record between Enter and Leave, or beside them.
  struct Point {
    RecordTime at;  // its call is in calls_
    PointKind kind;
    Match match = Match::exact;
    OTF2_CommRef comm = OTF2_UNDEFINED_COMM;
    std::uint32_t peer = 0;  // rank there
    std::uint32_t tag = 0;
    std::uint64_t row = 0;  // message; place in begun_; of a note, place in waits_ or events_
    std::uint64_t bytes = 0, wire_bytes = 0;
    TextId protocol = kNoText;
    OTF2_StringRef transports = OTF2_UNDEFINED_STRING;
  };
  struct Thread {
    OTF2_LocationRef location;
    std::vector<std::uint32_t> calls;  // in calls_
    std::vector<Point> points;
  };
  // Locations for overlapping operations.
  struct Operations {
    Lanes lanes;
    std::vector<OTF2_LocationRef> locations;
  };
  // A location whose next record is not before the last one.
  struct Writer {
    OTF2_EvtWriter* events;
    std::int64_t last_ns = 0;
  };

  void load_calls(RowsOfProcess rows);
  // Notes: information about calls besides their arguments.
  void load_notes(RowsOfProcess waits, RowsOfProcess partition_events);
  void add_notes();
  void describe_notes(std::int64_t call);
  void describe_wait(const Wait& wait);
  void describe_event(const PartitionEvent& event);
  static bool is_note(const Point& point) {
    return point.kind == PointKind::wait || point.kind == PointKind::partition_event;
  }
  void write_note(Writer& writer, const Point& point);
  void add_begun_collectives(RowsOfProcess rows);
  static bool is_of_collective(const Point& point) {
    return point.kind == PointKind::collective_request ||
           point.kind == PointKind::collective_complete;
  }
  void write_begun_collective(Writer& writer, const Point& point);
  Thread& thread(std::uint32_t lane);
  void add_sends();
  void add_send(const MessageEnd& message, std::int64_t completed_ns);
  void add_receives();
  void add_receive(const MessageEnd& message);
  // How a message is represented at a point, without its kind, place and time.
  Point point_of(const MessageEnd& message);
  // The call that has the send in the archive: -1 if none is known, nothing for no send at all.
  std::optional<std::int64_t> place_of_send(const MessageEnd& message);
  // The use of a request in which this call made a partition ready.
  std::optional<PartitionOperation> made_ready_by(std::int64_t call);
  std::int64_t receiving_call(const MessageEnd& message);
  // The place in calls_ of a row of this process with a known start; else -1.
  std::int64_t own_call(std::int64_t row) const;
  std::int64_t within(std::int64_t call, std::int64_t time_ns) const;
  void add(std::int64_t call, Point point);

  void write_operations(RowsOfProcess rows);
  void write_transfers(RowsOfProcess rows);
  void write_span(const std::string& group, const std::string& function, Layer layer,
                  std::int64_t start_ns, std::int64_t end_ns);
  void write_thread(Thread& thread);
  void write_call(Writer& writer, std::uint32_t number, std::span<const Point> inside);
  void describe(const MpiCallRow& call);
  void describe_stack(std::int32_t stack);
  struct CollectiveEnd {
    OTF2_CollectiveOp op;
    OTF2_CommRef comm;
    std::uint32_t root;  // in it
  };
  CollectiveEnd end_of_collective(const MpiCallRow& call) const;
  // Whether OTF2 has the operation, and the archive its communicator.
  bool is_known_collective(const MpiCallRow& call) const;
  // Of a blocking one.
  void write_collective_end(Writer& writer, const MpiCallRow& call, std::int64_t end_ns);
  void write_point(Writer& writer, const Point& point);
  OTF2_TimeStamp next(Writer& writer, std::int64_t time_ns);

  Otf2Shared& shared_;
  Otf2Attributes attributes_;
  const std::uint32_t process_;
  std::size_t first_call_ = 0;
  std::vector<MpiCallRow> calls_;
  std::vector<Wait> waits_;             // by call
  std::vector<PartitionEvent> events_;  // by call
  std::size_t first_begun_ = 0;         // row of the first of these
  std::vector<BegunCollective> begun_;
  std::vector<MessageEnd> asked_;                 // by message
  std::vector<std::int64_t> completed_ns_;        // beside asked_
  std::map<std::uint32_t, Thread> threads_;       // by lane
  std::map<std::string, Operations> operations_;  // by the name of their locations
};

}  // namespace uctrace::exports

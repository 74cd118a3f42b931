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
  RowWindow<Message>& messages;
  Paths& paths;
  // What could not be told as it was.
  std::uint64_t without_time = 0, not_returned = 0, moved = 0, not_mirrored = 0;

  const std::string& text(TextId id) const { return source.run().texts[id]; }
};

// Rows of one process in the tables that are by process.
struct RowsOfProcess {
  std::size_t first = 0, end = 0;
};

class Otf2Process {
 public:
  Otf2Process(Otf2Shared& shared, std::uint32_t process)
      : shared_(shared), attributes_(shared.strings), process_(process) {}

  // Returns the location that is the process for others, which exists whatever was recorded.
  OTF2_LocationRef write(RowsOfProcess mpi_calls, RowsOfProcess ucp_operations,
                         RowsOfProcess transfers);

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
  };
  // A record between Enter and Leave, or beside them.
  struct Point {
    std::int64_t time_ns;
    std::int64_t call;  // in calls_, that it is in; -1: in whichever it falls
    PointKind kind;
    Match match;
    OTF2_CommRef comm;
    std::uint32_t peer;  // rank there
    std::uint32_t tag;
    std::uint64_t bytes, message, wire_bytes;
    TextId protocol;
    OTF2_StringRef transports;
  };
  struct Thread {
    OTF2_LocationRef location;
    std::vector<std::uint32_t> calls;  // in calls_
    std::vector<Point> points;
  };
  // Locations that operations which overlap are spread over.
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
  Thread& thread(std::uint32_t lane);
  void add_sends();
  void add_send(const Message& message, std::uint64_t number, std::int64_t completed_ns);
  void add_receives();
  void add_receive(const Message& message, std::uint64_t number);
  // How a message is told at a point, without its kind, place and time.
  Point point_of(const Message& message, std::uint64_t number, std::int32_t peer_process);
  void add_path(const Message& message, Point& point);
  // The call that has the send in the archive: -1 where none is known, nothing for no send at all.
  std::optional<std::int64_t> place_of_send(const Message& message);
  std::int64_t start_before(std::int64_t call) const;
  std::int64_t receiving_call(const Message& message);
  void add(std::int64_t call, Point point);

  void write_operations(RowsOfProcess rows);
  void write_transfers(RowsOfProcess rows);
  void write_span(const std::string& group, const std::string& function, Layer layer,
                  std::int64_t start_ns, std::int64_t end_ns);
  void write_thread(Thread& thread);
  void write_call(Writer& writer, const MpiCallRow& call, std::span<const Point> inside);
  void describe(const MpiCallRow& call);
  void describe_stack(std::int32_t stack);
  void write_collective_end(Writer& writer, const MpiCallRow& call, std::int64_t end_ns);
  void write_point(Writer& writer, const Point& point);
  OTF2_TimeStamp next(Writer& writer, std::int64_t time_ns);

  Otf2Shared& shared_;
  Otf2Attributes attributes_;
  const std::uint32_t process_;
  std::size_t first_call_ = 0;
  std::vector<MpiCallRow> calls_;
  std::vector<std::uint32_t> starts_;             // calls that start requests, in calls_
  std::map<std::uint32_t, Thread> threads_;       // by lane
  std::map<std::string, Operations> operations_;  // by the name of their locations
  std::vector<std::int64_t> completed_ns_;        // of the sends, beside asked_by()
};

}  // namespace uctrace::exports

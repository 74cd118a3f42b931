// The operations, arrivals and MPI calls of a job, and the results about each. Private to
// log-merger/.
//
// Times are nanoseconds on the job clock. Other rows are named by their index into the job's
// vectors.
#pragma once

#include <array>
#include <cstdint>

#include "event-log/reader/reader.hpp"
#include "log-merger/job/call_requests.hpp"
#include "log-merger/model/index.hpp"
#include "log-merger/model/model.hpp"

namespace uctrace::merge {

struct HeaderWords {
  std::array<std::uint64_t, log::kMaxHeaderWords> words{};
  std::uint8_t count = 0;
};

// A data range of a message.
struct Range {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const Range&) const = default;
};

// A run has as many of these as events: the order of fields leaves no padding.
struct UctOp {
  ProcessIndex process;
  InterfaceIndex interface;
  std::int32_t status = 0;
  std::int32_t end_status = 0;  // of the completion, if any
  std::uint32_t stack = 0;      // of the log, 0 = none
  std::uint16_t lane = 0;
  log::UctOp op = log::UctOp::none;
  log::Origin origin_kind = log::Origin::none;
  log::Route route = log::Route::none;
  std::uint8_t am_id = 0;
  std::uint8_t protocol = 0;  // into ProcessLog::protocols, 0 = not told by UCP
  bool has_end = false;       // told by a completion, which may not have come yet
  bool one_tick = false;      // its end was not read from the clock: `end_ns` is its start
  bool staging = false;       // moves data within one process for another operation
  log::TransferMemory memory{};
  log::Id id = 0, origin = 0;
  log::Id parent_id = 0;  // of the enclosing operation on another endpoint; 0 = none
  std::uint64_t start_tick = 0, endpoint = 0, bytes = 0, local = 0, remote = 0;
  std::int64_t start_ns = -1, end_ns = -1, complete_ns = -1;
  HeaderWords header;
  // results
  const char* reason = "";
  Range range;
  UcpIndex serves;
  EndpointIndex endpoint_row;
  MemoryPlace from, to;   // of the moved data
  std::uint16_t hop = 0;  // place along the path of its message
  Link link = Link::unattributed;
  bool has_range = false;

  bool failed() const { return status < 0 || end_status < 0; }
  bool outstanding() const { return status == 1 && has_end && complete_ns < 0; }
  // A receive that an interface still has.
  bool posted_receive() const {
    return op == log::UctOp::tag_recv_zcopy && status >= 0 && has_end && complete_ns < 0;
  }
  bool is_active_message() const {
    return op >= log::UctOp::am_short && op <= log::UctOp::am_zcopy;
  }
  bool fetches() const {
    return (op >= log::UctOp::get_short && op <= log::UctOp::get_zcopy) ||
           op == log::UctOp::get_sgl_zcopy;
  }
  // A list of buffers, each with its own remote address.
  bool is_list() const {
    return op == log::UctOp::put_sgl_zcopy || op == log::UctOp::get_sgl_zcopy;
  }
  bool moves_memory() const { return op >= log::UctOp::put_short && op <= log::UctOp::get_zcopy; }
};

struct Arrival {
  ProcessIndex process;
  InterfaceIndex interface;
  std::uint8_t am_id = 0;
  log::ArrivalKind kind = log::ArrivalKind::active_message;
  std::int64_t start_ns = -1;
  HeaderWords header;
};

// Requests in pending queues: how many entered, and their fates.
struct PendingTotals {
  std::uint64_t added = 0, dispatched = 0, purged = 0, lost_sight = 0;
  std::uint64_t queued = 0;    // still queued, on existing endpoints
  std::uint64_t vanished = 0;  // lost with an endpoint that was destroyed while they were queued
  std::uint64_t outside = 0;   // entered the queue outside the recorded windows
  std::uint64_t records() const { return added + dispatched + purged + lost_sight; }
};

struct UcpOp {
  ProcessIndex process;
  std::uint16_t lane = 0;
  log::UcpFunction function = log::UcpFunction::none;
  std::uint8_t flags = 0;
  std::int32_t status = 0;  // at return
  std::int32_t end_status = 0;
  TimeFrom start_from = TimeFrom::clock, end_from = TimeFrom::clock;
  bool ended = false;       // its end is known
  bool completed = false;   // by a completion record, which tells what was received
  std::uint32_t stack = 0;  // of the log, 0 = none
  log::OperationMemory memory{};
  log::Id id = 0;
  std::uint64_t start_tick = 0, handle = 0, bytes = 0, buffer = 0;
  std::uint64_t tag = 0, tag_mask = 0;  // for active messages the handler's id and 0
  std::uint64_t posted_tick = 0;        // orders receives
  std::uint64_t header_bytes = 0;       // active messages: the program's header, part of `bytes`
  std::uint64_t remote = 0, reply_buffer = 0;  // one-sided operations
  std::uint64_t data = 0;  // am_receive_data: the handler's data pointer; am_receive: the one
                           // passed to it
  log::Id arrival = 0;     // whose handler called it, 0 = none
  log::Id ended_in = 0;    // stream_receive: the arrival whose handler ended it, 0 = none
  std::int64_t start_ns = -1, end_ns = -1, posted_ns = -1;
  std::uint64_t sender_tag = 0, received_bytes = 0;
  // results
  std::uint64_t peer_uid = 0;  // sends: worker at the other end of the endpoint
  std::uint64_t worker_uid = 0;
  std::uint64_t taken_bytes = 0;  // stream_send: by receives
  ProcessIndex peer_process;
  // The matched operation. For streams: the receive of a send's last byte, or the send of a
  // receive's first byte.
  UcpIndex partner;
  UcpIndex first_taker;  // stream_send: the receive that took its first byte
  UcpIndex data_of;      // am_receive_data: the handler's call that announced the data
  MessageIndex message;
  CallIndex call;  // progressed in
  CallIndex asked_by;
  CommIndex comm;                 // into ProcessLog::comms
  LibraryCallIndex library_call;  // it was posted within, or inferred to be for
  bool library_inferred = false;
  Match match = Match::unmatched;
  Link mpi_link = Link::unattributed;
  bool stream_known = false;  // stream_receive: the other end of its endpoint is in the logs
  bool tool = false;          // traffic of uctrace itself: no message of the program

  log::UcpFamily family() const { return log::family_of(function); }
  bool is(log::UcpFamily wanted) const { return family() == wanted; }
  // Two-sided: a message is a send and a receive; for a stream, a send and all receives that took
  // some of its bytes.
  bool is_send() const {
    return is(log::UcpFamily::tag_send) || is(log::UcpFamily::am_send) ||
           is(log::UcpFamily::stream_send);
  }
  bool is_receive() const {
    return is(log::UcpFamily::tag_receive) || is(log::UcpFamily::am_receive) ||
           is(log::UcpFamily::stream_receive);
  }
  bool is_stream() const { return family() >= log::UcpFamily::stream_send; }
  // One-sided: the operation alone is a message.
  bool is_one_sided() const {
    return family() >= log::UcpFamily::put && family() <= log::UcpFamily::atomic;
  }
  bool starts_message() const { return is_send() || is_one_sided(); }
  // It has a buffer with the program's data.
  bool has_buffer() const {
    return starts_message() || is_receive() || is(log::UcpFamily::am_receive_data);
  }
  // Otherwise its handle is a worker.
  bool has_endpoint() const {
    return starts_message() || is_stream() ||
           (function >= log::UcpFunction::ep_flush && function <= log::UcpFunction::ep_flush_nbx) ||
           (function >= log::UcpFunction::ep_close_nb && function <= log::UcpFunction::ep_destroy);
  }
  bool accepted() const { return status >= 0; }
  bool failed() const { return ended && end_status < 0; }
  bool implicit() const { return (flags & log::UcpOperation::kImplicit) != 0; }
  bool received() const;  // a receive that took a known message
  // When it took the message, -1 = not known. A handler is called with its message.
  std::int64_t taken_ns() const { return is(log::UcpFamily::am_receive) ? start_ns : end_ns; }
  // A receive that may have taken a message, but no log says which.
  bool took_unknown() const {
    return is(log::UcpFamily::tag_receive) && accepted() && !completed && end_status >= 0;
  }
};

struct MpiCall {
  ProcessIndex process;
  std::uint16_t lane = 0;
  TextId function = kNoText;
  std::int32_t status = 0;
  bool on_window = false;
  bool locks_alone = false;         // requests an exclusive lock
  Answer answer = Answer::unknown;  // of a call that tests a request or a partition of it
  bool open = false;  // it had not returned when its log ended: `end_tick` is after everything
  std::uint64_t start_tick = 0, end_tick = 0;
  std::int32_t peer = 0, tag = 0, recv_peer = 0, recv_tag = 0;
  std::uint64_t bytes = 0, recv_bytes = 0;
  DatatypeIndex datatype, recv_datatype;
  std::uint64_t request = 0;  // made, started, ended or tested; 0 = none or several
  std::int64_t start_ns = -1, end_ns = -1;
  CommIndex comm;           // for a window or a file: the one it was made from
  WindowIndex window;       // or file
  std::uint32_t stack = 0;  // of the log, 0 = none
};

}  // namespace uctrace::merge

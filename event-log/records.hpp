// Layout of a uctrace event log: the one header that every room shares.
//
// A log is one file per process: a ProcessPage, followed by blocks of packed records. What is not
// packed yet lies in chunks: in a second file beside it (kLiveSuffix) where the storage is mapped,
// in memory where it is drained. A chunk is of a power-of-two size (>= kMinChunkBytes), led by a
// ChunkHeader, and belongs to one lane (a recording thread) and one stream (events or definitions);
// chunks of a lane and stream follow each other by `sequence`. Inside a chunk records lie back to
// back, 8-byte aligned; a record whose first word is zero is not published yet and ends the
// readable part of its chunk. A block holds a run of the records of one chunk. All integers are in
// host byte order; a log states its byte order by its magic.
//
// Times are ticks of the clock named in ProcessPage::clock; anchors turn them into nanoseconds.
// Handles (endpoints, workers, communicators) are the raw words the program used. They are recycled
// by their libraries, so a reader resolves one at a tick: the newest definition not later than it.
//
// Everything here is plain data without dependencies. Change a layout => bump kFormatVersion and
// docs/log-format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "event-log/counter.hpp"
#include "event-log/kinds.hpp"

namespace uctrace::log {

inline constexpr std::uint64_t kMagic = 0x31474f4c52544355;  // "UCTRLOG1", little endian
inline constexpr std::uint32_t kChunkMagic = 0x4b4e4843;     // "CHNK"
inline constexpr std::uint32_t kBlockMagic = 0x4b434150;     // "PACK"
inline constexpr std::uint32_t kGapMagic = 0x20504147;       // "GAP "
inline constexpr std::uint32_t kFormatVersion = 4;

// Behind the name of a log: the chunks whose records are not in it yet.
inline constexpr char kLiveSuffix[] = ".live";

inline constexpr std::size_t kMinChunkBytes = 64 * 1024;
inline constexpr std::size_t kMaxChunkBytes = 4 * 1024 * 1024;
inline constexpr std::size_t kProcessPageBytes = 128 * 1024;
inline constexpr std::size_t kMaxLanes = 240;
inline constexpr std::size_t kAnchors = 16;

// --- file structure ------------------------------------------------------------------------------

// One instant on three clocks. `realtime_ns` is CLOCK_REALTIME, `monotonic_ns` CLOCK_MONOTONIC_RAW.
struct Anchor {
  std::uint64_t tick;
  std::uint64_t monotonic_ns;
  std::uint64_t realtime_ns;
};

// First word of every record. `type` is stored last, with release order: it publishes the record.
struct Head {
  RecordType type;
  std::uint8_t words;  // size of the record in 8-byte words, this one included
  std::uint16_t a;     // meaning depends on the type
  std::uint32_t b;
};
static_assert(sizeof(Head) == 8);
inline constexpr std::size_t kMaxRecordBytes = 255 * 8;

// Ids are unique within a process: lane << 48 | counter (from 1) of that lane and record type.
using Id = std::uint64_t;

// Totals of one lane, counted where the event happens and independently of the records, so that
// the accounting identities compare two separate counts. Never reset, never overwritten.
template <typename Number>
struct CountersOf {
  Number uct_posted_ok;       // operations that returned OK or INPROGRESS
  Number uct_inprogress;      // of those, INPROGRESS
  Number uct_completed;       // completion trampolines that fired
  Number uct_without_handle;  // INPROGRESS with a NULL completion, or without a free slot
  Number uct_untracked;       // subset of without_handle: no completion slot was free
  Number uct_errors;          // operations that returned an error other than NO_RESOURCE
  Number uct_no_resource;     // operations refused with NO_RESOURCE (retries, not traffic)
  Number uct_arrivals;
  Number ucp_operations;
  Number ucp_untracked;  // UCP operations without a free slot: no completion record
  Number ucp_sends;      // tag sends that did not fail at once
  Number ucp_receives;   // tag receives that did not fail at once
  Number ucp_completed;  // completions of operations that did not complete at return
  Number mpi_calls;
  Number dropped[kDropKinds];  // records lost because no chunk was ready
  Number recorded_events;      // records published in the event stream
  Number ucp_puts;             // UCP operations that did not fail at once, by family
  Number ucp_gets;
  Number ucp_atomics;
  Number ucp_flushes;
  Number ucp_am_sends;
  Number ucp_am_receives;       // calls of the program's active message handlers
  Number ucp_am_data_receives;  // ucp_am_recv_data_nbx
  // Requests that UCT took into a pending queue, refused to queue (there is room to post again), or
  // queued without our callback in them, for lack of a place.
  Number uct_pending_added;
  Number uct_pending_refused;
  Number uct_pending_untracked;
  // Receives that an interface matches by itself (tag offload): accepted, and ended or cancelled.
  Number uct_tag_receives;
  Number uct_tag_receives_ended;
  Number ucp_stream_sends;
  Number ucp_stream_receives;
  // Requests that UCP queued inside itself, whose context found no room (uct-shim/carried.hpp).
  Number ucp_requests_not_carried;
  // A log of bounded size (UCTRACE_MAX_LOG): events that gave way to newer ones, and the tick up to
  // which they reach. The thread that writes the file counts them, not the lane's own.
  Number overwritten[kDropKinds];
  Number overwritten_until_tick;  // 0 = none were
  // Call stacks that events asked for, and of these: found by unwinding, not by the memo; deeper
  // than kMaxStackFrames; not taken, because another one was being taken on this thread.
  Number stacks_captured;
  Number stacks_unwound;
  Number stacks_truncated;
  Number stacks_skipped;
  // Events that were not recorded because recording was switched off (RecordingSwitch).
  Number outside_window[kDropKinds];
  Number uct_pending_left;    // requests that left a pending queue, or were lost sight of in it
  Number ucp_messages_taken;  // tag receives that ended with a message
  Number mpi_request_records;  // MpiRequests
  Number reserved[9];
};
using LaneCounters = CountersOf<std::uint64_t>;
using LiveCounters = CountersOf<Counter>;  // while the lane's thread counts
static_assert(sizeof(LaneCounters) == 59 * 8);

// The outermost MPI call that a thread is in: what an MpiCall record of it begins with, for it gets
// one only when it returns. Plain stores, the head last and cleared first: a snapshot of a living
// process may mix two calls that follow each other.
struct CurrentCall {
  Head head;  // type: of an MpiCall, unpublished = in none; a: function number, without parts
  std::uint64_t start_tick;
  std::uint64_t scope;
  std::int32_t peer;  // of the sending half
  std::int32_t tag;
};

struct LaneInfo {
  std::uint32_t state;  // 0 never used, 1 in use, 2 free for another thread
  std::uint32_t tid;    // thread id of the newest user
  LaneCounters counters;
  CurrentCall current_call;
};
static_assert(sizeof(LaneInfo) == 512);

struct ProcessPage {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t page_bytes;  // kProcessPageBytes
  char tool_version[16];
  char host[64];
  char boot_id[40];
  std::uint64_t pid_namespace;  // inode of /proc/self/ns/pid
  std::uint32_t pid;
  std::uint32_t parent_pid;
  std::uint64_t
      start_time;  // field 22 of /proc/self/stat: with boot id and pid it names the process
  char job[64];    // job key; empty if none is known
  Clock clock;
  LayerState layers[kLayers];
  ExitKind exit;
  std::uint8_t closed;      // 1 once the process has written its last record in an orderly way
  std::uint8_t gpu_driver;  // 1 once a GPU driver library was seen in the process
  std::int32_t world_rank;  // -1 until MPI_Init
  std::int32_t world_size;
  std::uint32_t lanes_used;
  std::uint32_t write_errno;                       // why records were first lost, 0 if none were
  std::uint64_t allocated_bytes;                   // of the file, as far as it was written
  std::uint64_t dropped_without_lane[kDropKinds];  // threads beyond kMaxLanes, or no chunk at all
  std::uint32_t anchor_count;  // anchors[0] is the first; the last slot is refreshed for ever
  std::uint32_t file_system;   // f_type of statfs(2) where the log lies (file_systems.hpp)
  Anchor anchors[kAnchors];
  Storage storage;
  std::uint8_t reserved0[3];
  std::uint32_t image;           // 1, 2, ...: the process replaced itself (exec) so often since
                                 // its first log; 0 in that one
  std::uint64_t time_namespace;  // inode of /proc/self/ns/time, 0 where the kernel has none
  // As the launcher's environment has them. A rank only if this is the process that was launched
  // and not one that it started: the reader finds that out.
  std::int32_t launch_rank;
  std::int32_t launch_size;  // 0 = the environment has none
  StackMode stacks;
  Unwinder unwinder;
  std::uint16_t threads_at_end;  // lanes that other threads still had when this one closed the log
  std::uint8_t reserved2[4];
  std::uint64_t live_bytes;       // of the file of chunks beside the log; 0 = it is not needed
  std::uint64_t max_event_bytes;  // bound of the blocks of events, 0 = none
  std::uint64_t packing_ns;       // wall time for making the blocks of the log, without writing them
  std::uint64_t writing_ns;       // and for writing them
  std::uint64_t reserved1[56];
  // LaneInfo lanes[kMaxLanes] follow at kLanesOffset.
};
inline constexpr std::size_t kLanesOffset = 8192;
static_assert(sizeof(ProcessPage) <= kLanesOffset);
static_assert(kLanesOffset + kMaxLanes * sizeof(LaneInfo) == kProcessPageBytes);

// Leads records as their threads wrote them.
struct ChunkHeader {
  std::uint32_t magic;
  std::uint32_t bytes;  // of the whole chunk, this header included
  std::uint16_t lane;   // valid once `sequence` != 0
  Stream stream;
  std::uint8_t reserved;
  std::uint32_t sequence;  // 1, 2, ... within (lane, stream); 0 = no thread has it
  Anchor anchor;           // taken when the chunk was made ready
  std::uint32_t place;     // which of the writer's chunks it is
  std::uint32_t reserved0;
  std::uint64_t reserved1[2];
};
static_assert(sizeof(ChunkHeader) == 64);

// Leads records of one chunk that were packed (codec.hpp), from `first` on. Needs no other block to
// be read. Padded to kBlockAlignment with zeros.
struct BlockHeader {
  // Behind these records lies one in the chunk that was begun and never finished.
  static constexpr std::uint8_t kUnfinished = 1;
  std::uint32_t magic;
  std::uint32_t bytes;  // of the whole block, this header included
  std::uint16_t lane;
  Stream stream;
  std::uint8_t flags;
  std::uint32_t sequence;             // of the chunk
  std::uint32_t first;                // offset of the first record in the chunk
  std::uint32_t raw_bytes;            // of the records as they were there
  std::uint32_t records[kDropKinds];  // how many they are
  std::uint64_t last_tick;            // when the last of them ended
  Anchor anchor;                      // of the chunk
  std::uint64_t checksum;             // checksum_of()
};
static_assert(sizeof(BlockHeader) == 80);
inline constexpr std::size_t kBlockAlignment = 64;

// Space between blocks that holds nothing (any more). Only its header is written.
struct GapHeader {
  std::uint32_t magic;
  std::uint32_t bytes;  // of the gap, this header included; a multiple of kBlockAlignment
};
static_assert(sizeof(GapHeader) <= kBlockAlignment);

// --- events --------------------------------------------------------------------------------------
//
// While call stacks are kept, a UctOperation or UcpOperation whose stack was taken ends with one
// word more than what is described here: the id of its Stack.

// A UCT operation as its caller saw it. Optional words follow in this order, by `flags`:
//   kHasId      its id, where a UctCompletion follows (INPROGRESS with a handle, receives posted to
//               an interface), or operations that name it as their parent
//   kHasLocal   local address of the payload
//   kHasRemote  remote address
//   kHasParent  id of the operation of another endpoint in which this one was posted: staging
//   header words, as many as header_words() of the flags
// kNoEnd: it has an id, but no completion will follow.
// `marks`: kOneTick: it was complete at return and so short that its end was not read from the
// clock: duration_ticks is 0, and the call around it bounds its end.
//
// The header words are of active messages the first ones as handed to UCT. Tag offload: eager: tag,
// immediate data; a rendezvous looks like UCP's own announcement (am_id rndv_rts): tag, ep_id,
// req_id, address, length; posted receives: tag, mask, length. Flushes: their flags, unless 0.
struct UctOperation {
  static constexpr std::uint8_t kHasId = 1, kHasLocal = 2, kHasRemote = 4, kHasParent = 8,
                                kHeaderShift = 4, kNoEnd = 0x80;
  static constexpr std::uint8_t kOneTick = 1;
  static constexpr std::size_t header_words(std::uint8_t flags) {
    return flags >> kHeaderShift & 7;
  }
  static constexpr std::uint8_t source_of(Origin kind, Route route) {
    return static_cast<std::uint8_t>(static_cast<unsigned>(kind) | static_cast<unsigned>(route)
                                                                       << 4);
  }
  Head head;  // a: interface id, b: ucs_status_t as int32 (>= 0: accepted)
  UctOp op;
  std::uint8_t am_id;  // active messages and announcements of a rendezvous
  std::uint8_t flags;
  std::uint8_t source;  // Origin | Route << 4: what `origin` is
  std::uint8_t marks;
  std::uint8_t protocol;       // UCP's, by TextKind::ucx_protocol; 0 = not known
  std::uint16_t header_bytes;  // bytes of the AM header known to be in front of the payload, else 0
  std::uint64_t start_tick;
  std::uint64_t duration_ticks;  // of the posting call
  std::uint64_t endpoint;        // uct_ep_h; 0 for iface_flush
  std::uint64_t bytes;           // as handed to UCT: payload and headers of the layers above
  Id origin;
};
static_assert(sizeof(UctOperation) == 56);

struct UctCompletion {
  Head head;  // b: status as int32
  std::uint64_t tick;
  Id operation;
};
static_assert(sizeof(UctCompletion) == 24);

// A message handed to the layer above. The first words of it follow. Active messages: as sent. Tag
// offload: sender's tag, immediate data; a rendezvous as in UctOperation.
struct UctArrival {
  // The duration of the handler was not read from the clock: the message is short. `b` is 0.
  static constexpr std::uint8_t kOneTick = 1;
  Head head;  // a: interface id, b: duration of the handler in ticks (saturated)
  std::uint64_t start_tick;
  Id id;
  std::uint32_t bytes;  // saturated: only a rendezvous that the transport carried out has so many
  std::uint8_t am_id;
  std::uint8_t header_words;
  ArrivalKind kind;
  std::uint8_t marks;
};
static_assert(sizeof(UctArrival) == 32);

// A request that entered or left the pending queue of an endpoint.
struct UctPending {
  Head head;  // a: interface id, b: PendingEvent
  std::uint64_t tick;
  std::uint64_t endpoint;
  std::uint64_t request;  // address of the uct_pending_req_t
};
static_assert(sizeof(UctPending) == 32);

// What the fields mean depends on the family of the function (family_of): `handle` is a worker for
// receives and for the flushes of workers, else an endpoint; `bytes` is the length of the buffer
// (sends: of the message, active messages: without their header; atomics: of one operand).
struct UcpOperation {
  // kUnknownLength: a generic datatype, whose packed length only the wire tells.
  // kProbed: `posted_tick` of a matched receive is its probe's.
  // kImplicit: nobody is told its end, which only a later flush makes sure of: *_nbi, atomic posts.
  // kCallStart: `start_tick` is that of the MPI call around it, which began a little earlier.
  // kCallEnd: so is its end, a little later: `duration_ticks` is 0, and the call's record tells it.
  static constexpr std::uint8_t kUnknownLength = 1, kUntracked = 2, kProbed = 4, kImplicit = 8,
                                kCallStart = 16, kCallEnd = 32;
  Head head;  // a: UcpFunction | flags << 8, b: status as int32 at return
  Id id;
  std::uint64_t start_tick;
  std::uint64_t duration_ticks;  // of the call
  std::uint64_t handle;
  std::uint64_t bytes;
  union {
    std::uint64_t tag;
    std::uint64_t remote;  // put, get, atomic: address
    std::uint64_t am_id;   // am_send, am_receive: the program's id of the handler
    std::uint64_t data;    // am_receive_data: what the handler got as its data; streams: 0
  };
  union {
    std::uint64_t tag_mask;      // receives; 0 for sends
    std::uint64_t reply_buffer;  // atomics that fetch, else 0
    std::uint64_t header_bytes;  // am_send, am_receive: of the program's header
    std::uint64_t received;      // stream_receive that ended at return: the bytes it took
  };
  std::uint64_t buffer;
  union {
    std::uint64_t posted_tick;  // tag_receive: the tick that gives their place in matching order
    Id origin;  // all but tags: the UctArrival in whose handler the call was made, 0 = none
  };
};
static_assert(sizeof(UcpOperation) == 80);

// End of a UCP operation that was INPROGRESS at return, and of every tagged receive. Sends stop
// after `tick`; receives add what they received.
struct UcpCompletion {
  // `tick` is that of the arrival in whose handler it ended.
  static constexpr std::uint16_t kArrivalTick = 1;
  Head head;  // a: flags, b: status as int32
  Id operation;
  std::uint64_t tick;
  union {
    std::uint64_t sender_tag;
    Id arrival;  // stream_receive: the UctArrival in whose handler it ended, 0 = in none
  };
  std::uint64_t length;
};
static_assert(sizeof(UcpCompletion) == 40);
inline constexpr std::size_t kSendCompletionWords = 3;

// An outermost MPI call of a thread; mpi_window_call: on a window, mpi_file_call: on a file. What
// else is known of it follows by `parts`, in this order:
//   kPeer     MpiPeer: of what is sent, or of a call that only receives or moves nothing; the root
//             of a collective operation as its `peer`
//   kVolume   MpiVolume of the same; of a collective operation what this process hands to it
//   kReceive  MpiPeer and MpiVolume of what is received or fetched besides
//   kRequest  handle of the request, or message, that was made, started, freed or waited for; of
//             several the one that ended, or the first one if none did
//   kCaller   address in the program that the call returns to
//   kStack    id of its Stack; there is no kCaller then
struct MpiCall {
  static constexpr std::uint16_t kPeer = 1, kVolume = 2, kReceive = 4, kRequest = 8, kCaller = 16,
                                 kStack = 32;
  // Marks in place of a peer or a tag. kRoot: the root that this process is, in an
  // intercommunicator.
  static constexpr std::int32_t kAny = -1, kNull = -2, kRoot = -3, kNone = INT32_MIN;
  static constexpr unsigned kFunctionBits = 10;
  static constexpr std::uint16_t kMaxFunctions = 1 << kFunctionBits;
  static constexpr std::size_t words_of(unsigned parts) {
    return 4 + (parts & kPeer ? 1 : 0) + (parts & kVolume ? 2 : 0) + (parts & kReceive ? 3 : 0) +
           (parts & kRequest ? 1 : 0) + (parts & kCaller ? 1 : 0) + (parts & kStack ? 1 : 0);
  }
  Head head;  // a: function number (TextKind::mpi_function) | parts << kFunctionBits, b: result
  std::uint64_t start_tick;
  std::uint64_t duration_ticks;
  std::uint64_t scope;  // handle of the communicator, window or file; 0 where the call has none
};
static_assert(sizeof(MpiCall) == 32);

struct MpiPeer {
  std::int32_t peer;  // rank in the communicator or window, or a mark
  std::int32_t tag;   // or kAny / kNone
};
static_assert(sizeof(MpiPeer) == 8);

struct MpiVolume {
  std::uint64_t bytes;     // count * size of the datatype, or the sum of such
  std::uint64_t datatype;  // its handle, 0 where there are several or none
};
static_assert(sizeof(MpiVolume) == 16);

// The requests of a call of this lane that begins at `tick`, where there may be several: first
// those it was called with, recorded before it could end them; then, of a call that ended only some
// of them, which ones. Handles follow or, kCompleted, positions among all requests of the call, two
// to a word. kMore: another record goes on with them.
struct MpiRequests {
  static constexpr std::uint16_t kCompleted = 1, kMore = 2;
  static constexpr std::size_t kMost = 240;  // in one record
  static constexpr std::size_t words_of(std::uint16_t flags, std::size_t count) {
    return 2 + (flags & kCompleted ? (count + 1) / 2 : count);
  }
  Head head;  // a: flags, b: count
  std::uint64_t tick;
};
static_assert(sizeof(MpiRequests) == 16);

// --- definitions ---------------------------------------------------------------------------------

// `length` bytes of text follow, padded to a word. Longer texts are cut (kTruncated in `flags`).
struct Text {
  static constexpr std::uint16_t kTruncated = 1;
  Head head;  // a: TextKind | flags << 8, b: length
  std::uint64_t tick;
  std::uint64_t id;
};
static_assert(sizeof(Text) == 24);

// device_address_bytes, then interface_address_bytes of address follow (each padded to a word).
struct UctInterface {
  // kByBypassedUcp: opened by a libucp whose calls do not come by the shims.
  static constexpr std::uint64_t kByUcp = 1, kByBypassedUcp = 2;
  Head head;  // a: interface id (never reused), b: ep_address_bytes
  std::uint64_t tick;
  std::uint64_t handle;
  std::uint64_t of_ucp;  // kByUcp, kByBypassedUcp, or 0 = by the program itself
  char transport[16];
  char device[32];
  char memory_domain[16];
  std::uint16_t device_address_bytes;
  std::uint16_t interface_address_bytes;
  DeviceType device_type;
  std::uint8_t reserved[3];
  std::uint64_t offered;  // bits 1 << UctHook of the slots that the interface's table has
  std::uint64_t hooked;   // of those, the ones that lead through the shim
};
static_assert(sizeof(UctInterface) == 120);

// The same shape serves close and destroy records: something with this handle ended at `tick`.
struct HandleEnd {
  Head head;  // a: interface id where it is an interface
  std::uint64_t tick;
  std::uint64_t handle;
};
static_assert(sizeof(HandleEnd) == 24);

// uct_endpoint: created (address = remote interface, may be empty). uct_endpoint_address: own
// endpoint address. uct_endpoint_connect: address = remote endpoint. The device address and then
// the interface or endpoint address follow, each padded to a word.
struct UctEndpoint {
  Head head;  // a: interface id
  std::uint64_t tick;
  std::uint64_t handle;
  std::uint16_t device_address_bytes;
  std::uint16_t address_bytes;
  std::uint32_t reserved;
};
static_assert(sizeof(UctEndpoint) == 32);

struct UcpWorker {
  Head head;
  std::uint64_t tick;
  std::uint64_t handle;
  std::uint64_t uid;  // 0 = could not be read
};
static_assert(sizeof(UcpWorker) == 32);

struct UcpEndpoint {
  Head head;  // b: ticks that its creation took (saturated); it ended at `tick`
  std::uint64_t tick;
  std::uint64_t handle;
  std::uint64_t worker;
  std::uint64_t remote_uid;  // 0 = the endpoint was not made from a worker address
};
static_assert(sizeof(UcpEndpoint) == 40);

// `address` is in network order: 4 bytes of IPv4 or 16 of IPv6.
struct SocketAddress {
  unsigned char address[16];
  std::uint16_t port;
  std::uint8_t version;  // 4 or 6, 0 = not known
  std::uint8_t reserved[5];
};
static_assert(sizeof(SocketAddress) == 24);

// A UCP endpoint made by socket address is connected, as the connection manager told it: the client
// before the server. Another thread may record it before the endpoint's creation has returned.
struct UcpConnection {
  Head head;  // a: ConnectionSide
  std::uint64_t tick;
  std::uint64_t handle;             // of the UCP endpoint
  std::uint64_t network_namespace;  // inode of /proc/thread-self/ns/net, 0 = not known
  SocketAddress local;
  SocketAddress remote;
};
static_assert(sizeof(UcpConnection) == 80);

// A run of world ranks: first, first + stride, ... (count of them).
struct RankRun {
  std::int32_t first;
  std::int32_t stride;
  std::uint32_t count;
  std::uint32_t reserved;
};
static_assert(sizeof(RankRun) == 16);

// A communicator as one member made it. Of the rank 0 of each group `head.b` RankRuns follow
// (kMembers): world ranks of its group, in its order. kTruncated: more runs than a record holds, or
// processes of another world; the rest is unknown. kTool: of uctrace itself, not of the program.
struct Communicator {
  static constexpr std::uint16_t kInter = 1, kTruncated = 2, kMembers = 4, kTool = 8;
  Head head;  // a: flags, b: number of runs
  std::uint64_t tick;
  std::uint64_t handle;
  std::uint64_t parent;  // handle, 0 for the predefined ones
  std::uint32_t rank;
  std::uint32_t size;          // of the local group
  std::uint32_t function;      // MPI function number that made it
  std::uint32_t ordinal;       // 1, 2, ... of communicators made from `parent` in this process
  std::int32_t leader;         // world rank of rank 0 of the local group, -1 = of another world
  std::int32_t remote_leader;  // the same of the remote group, -1 too if there is none
  std::uint32_t remote_size;   // 0 if there is no remote group
  std::uint32_t reserved;
  // Of the members of both groups and the tag of the call that made it, the same in all of them; 0
  // where the call was made by all processes of `parent`, so that the ordinal tells.
  std::uint64_t group_hash;
};
static_assert(sizeof(Communicator) == 72);

struct Window {
  Head head;
  std::uint64_t tick;
  std::uint64_t handle;
  std::uint64_t communicator;  // handle of the one it was made from
};
static_assert(sizeof(Window) == 32);

// An open file of MPI.
using File = Window;

// A datatype as it was when a call first used it. `head.b` bytes of its name follow, padded to a
// word, if it has one.
struct Datatype {
  Head head;  // a: Combiner, b: bytes of the name
  std::uint64_t tick;
  std::uint64_t handle;
  std::uint64_t size;
  std::int64_t extent;
};
static_assert(sizeof(Datatype) == 40);

// A call stack. The addresses follow, innermost first, without frames of uctrace itself: where each
// call returns to, or one beyond an instruction that a signal interrupted. So what is before an
// address is the call.
inline constexpr std::size_t kMaxStackFrames = 128;
struct Stack {
  // kTruncated: there are more frames. kLost: the last one's code says nothing of its caller.
  static constexpr std::uint16_t kTruncated = 1, kLost = 2;
  Head head;  // a: flags, b: id, from 1
  std::uint64_t tick;
};
static_assert(sizeof(Stack) == 16);

// Code that stacks lead through: the program or a library, from `begin` to `end`. The newest one
// with an address, not later than a stack, is the stack's; else the first one later. The build id
// and then the path follow (each padded to a word).
struct Module {
  Head head;  // a: bytes of the build id, b: bytes of the path
  std::uint64_t tick;
  std::uint64_t bias;  // what its addresses in memory are beyond those in its file
  std::uint64_t begin;
  std::uint64_t end;
};
static_assert(sizeof(Module) == 40);

// Recording of events was switched on or off, which each lane follows by itself, at its next event at
// the latest: `tick` is when this one did. The event at hand belongs to what was before, but for the
// first one of a lane: it begins as the process is. Definitions and counters go on.
struct RecordingSwitch {
  static constexpr std::uint16_t kOn = 1;  // the cause stands in the bits above
  Head head;                // a: kOn | SwitchCause << 8, b: number of the switch in its process
  std::uint64_t tick;
  std::uint64_t asked_tick;  // when the process was switched
  LaneCounters counters;     // of the lane until here; 0 at its first event
};
static_assert(sizeof(RecordingSwitch) == 62 * 8);

// The clocks of two processes at one instant, found by messages that went to and fro: half of
// `round_trip_ns` bounds the error. It is about CLOCK_MONOTONIC_RAW of their kernels and time namespaces,
// not about the processes: whatever else reads these clocks is placed by it, too.
struct ClockSample {
  enum End : std::uint16_t { at_start = 0, at_end = 1, kEnds };
  Head head;  // a: End of the run, b: round trips that were made
  std::uint64_t tick;
  std::uint64_t own_ns;   // in the middle of the shortest round trip
  std::uint64_t peer_ns;  // what the other clock said then
  std::uint64_t round_trip_ns;
  std::uint64_t peer_clock;  // clock_name() of the other one
};
static_assert(sizeof(ClockSample) == 48);

// What this lane posted until `end_tick` is traffic of the tool itself (mpi-attribution/clock_sync.cpp).
struct ToolTraffic {
  Head head;
  std::uint64_t tick;  // when it began
  std::uint64_t end_tick;
};
static_assert(sizeof(ToolTraffic) == 24);

// Names the monotonic clock that a process reads: a time namespace shifts that of its kernel. Two
// processes with the same boot id and time namespace have one clock.
constexpr std::uint64_t clock_name(std::string_view boot_id, std::uint64_t time_namespace) {
  std::uint64_t name = 0xcbf29ce484222325;
  const auto mix = [&name](std::uint64_t byte) { name = (name ^ byte) * 0x100000001b3; };
  for (const char c : boot_id) mix(static_cast<unsigned char>(c));
  for (int i = 0; i < 8; ++i) mix(time_namespace >> (8 * i) & 0xff);
  return name;
}

// `length` bytes of detail follow, padded to a word.
struct Fault {
  Head head;  // a: FaultCode, b: length
  std::uint64_t tick;
  Layer layer;
  std::uint8_t reserved[3];
  std::int32_t value;
};
static_assert(sizeof(Fault) == 24);

// Words of the AM header that are kept with an operation or arrival.
inline constexpr std::size_t kMaxHeaderWords = 5;

}  // namespace uctrace::log

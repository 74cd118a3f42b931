// Records of the event stream: what happened, in the order in which each lane saw it end.
//
// While call stacks are kept, a UctOperation or UcpOperation whose stack was taken ends with one
// word more than described here: the id of its Stack. With kMemory, the memory of the operation
// precedes that word: a TransferMemory or an OperationMemory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/device_kinds.hpp"
#include "event-log/format/file_layout.hpp"

namespace uctrace::log {

// Words of the AM header that are kept with an operation or arrival.
inline constexpr std::size_t kMaxHeaderWords = 5;

// A UCT operation as its caller saw it. Optional words follow in this order, by `flags`:
//   kHasId      its id, where a UctCompletion follows (INPROGRESS with a handle, receives posted to
//               an interface), or operations that name it as their parent
//   kHasLocal   local address of the payload
//   kHasRemote  remote address
//   kHasParent  id of the operation of another endpoint in which this one was posted: staging
//   header words, as many as header_words() of the flags
// kNoEnd: it has an id, but no completion will follow.
// `marks`: kOneTick: the operation was complete at return, and so short that the clock was not read
// at its end: duration_ticks is 0, and the call around it bounds its end.
//
// Header words: for active messages, the first ones as handed to UCT. Tag offload: eager: tag,
// immediate data; a rendezvous looks like UCP's own announcement (am_id rndv_rts): tag, ep_id,
// req_id, address, length; posted receives: tag, mask, length. Flushes: their flags, unless 0.
struct UctOperation {
  static constexpr std::uint8_t kHasId = 1, kHasLocal = 2, kHasRemote = 4, kHasParent = 8,
                                kHeaderShift = 4, kNoEnd = 0x80;
  static constexpr std::uint8_t kOneTick = 1, kMemory = 2;
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
  std::uint16_t header_bytes;  // AM header bytes known to be in front of the payload, else 0
  std::uint64_t start_tick;
  std::uint64_t duration_ticks;  // of the posting call
  std::uint64_t endpoint;        // uct_ep_h; 0 for iface_flush
  std::uint64_t bytes;           // as handed to UCT: payload and headers of the layers above
  Id origin;
};
static_assert(sizeof(UctOperation) == 56);

// Where the addresses of a UCT operation lie. `remote` is looked up if it is an address of the same
// process, as for a copy to a device.
struct TransferMemory {
  MemoryId local;
  MemoryId remote;
};
static_assert(sizeof(TransferMemory) == 8);

struct UctCompletion {
  Head head;  // b: status as int32
  std::uint64_t tick;
  Id operation;
};
static_assert(sizeof(UctCompletion) == 24);

// A message handed to the layer above. Its first words follow. Active messages: as sent. Tag
// offload: sender's tag, immediate data; a rendezvous as in UctOperation.
struct UctArrival {
  // The clock was not read for the handler's duration: the message is short. `b` is 0.
  static constexpr std::uint8_t kOneTick = 1;
  Head head;  // a: interface id, b: duration of the handler in ticks (saturated)
  std::uint64_t start_tick;
  Id id;
  std::uint32_t bytes;  // saturated: only a rendezvous that the transport carried out is so long
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

// A call that makes memory known to others, or ends that. `address` and `bytes` are of the memory,
// 0 if the call does not name it. A call may make other calls inside, also of its own kind:
// uct_md_mem_reg calls uct_md_mem_reg_v2 in newer versions of UCX.
struct MemoryCall {
  Head head;  // a: MemoryFunction | (Origin | Route << 4) << 8, b: status as int32
  std::uint64_t start_tick;
  std::uint64_t duration_ticks;
  std::uint64_t domain;  // uct_md_h; of keys that are unpacked uct_component_h; 0 = of UCP
  std::uint64_t key;     // handle of the registration, or the key that was unpacked; 0 = none
  std::uint64_t address;
  std::uint64_t bytes;
  Id origin;        // as UctOperation's
  MemoryId memory;  // what `address` is in
  std::uint32_t reserved;
};
static_assert(sizeof(MemoryCall) == 72);

// The meaning of the fields depends on the family of the function (family_of): `handle` is a worker
// for receives and for the flushes of workers, else an endpoint; `bytes` is the length of the
// buffer (sends: of the message, active messages: without their header; atomics: of one operand).
struct UcpOperation {
  // kUnknownLength: a generic datatype; only the messages on the wire show its packed length.
  // kProbed: `posted_tick` of a matched receive is that of its probe.
  // kImplicit: its end is never reported; only a later flush guarantees it: *_nbi, atomic posts.
  // kCallStart: `start_tick` is that of the MPI call around it, which began a little earlier.
  // kCallEnd: it takes its end from that call, too, a little later: `duration_ticks` is 0, and the
  // call's record has the end.
  static constexpr std::uint8_t kUnknownLength = 1, kUntracked = 2, kProbed = 4, kImplicit = 8,
                                kCallStart = 16, kCallEnd = 32, kMemory = 64;
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
    std::uint64_t posted_tick;  // tag_receive: the tick that gives its place in matching order
    Id origin;  // all but tags: the UctArrival in whose handler the call was made, 0 = none
  };
};
static_assert(sizeof(UcpOperation) == 80);

// Where the buffer of a UCP operation lies, and what UCX took it for.
struct OperationMemory {
  static constexpr std::uint8_t kNoDevice = 255;
  MemoryId own;
  Belief believed;
  std::uint8_t believed_device;  // number of a UcxDevice, or kNoDevice
  BeliefFrom believed_from;
  std::uint8_t reserved;
};
static_assert(sizeof(OperationMemory) == 8);

// End of a UCP operation that was INPROGRESS at return, and of every tagged receive. Records of
// sends end after `tick`; those of receives add what was received.
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

// An outermost MPI call of a thread; mpi_window_call: on a window, mpi_file_call: on a file. More
// fields follow by `parts`, in this order:
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
  // Marks in place of a peer or a tag. kRoot: in an intercommunicator, this process is itself the
  // root.
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
  std::uint64_t scope;  // handle of the communicator, window or file; 0 if the call has none
};
static_assert(sizeof(MpiCall) == 32);

// Calls about partitions have two other numbers here: MPI_Pready and MPI_Pready_range the first and
// the last partition; MPI_Parrived a partition and whether it has arrived. Calls that test one
// request have kNone and whether it was complete.
struct MpiPeer {
  std::int32_t peer;  // rank in the communicator or window, or a mark
  std::int32_t tag;   // or kAny / kNone; of MPI_Win_lock its kind, as the MPI library counts
};
static_assert(sizeof(MpiPeer) == 8);

struct MpiVolume {
  std::uint64_t bytes;     // count * size of the datatype, or the sum of such
  std::uint64_t datatype;  // its handle, 0 if there are several or none
};
static_assert(sizeof(MpiVolume) == 16);

// The requests of a call of this lane that begins at `tick`, if it can have several. The first
// record has those that it was called with, recorded before it could end them. If the call ended
// only some of them, another record says which. Handles follow or, kCompleted, positions among all
// requests of the call, two to a word. kMore: another record continues the list. kPartitions: not a
// list of requests, but numbers, two to a word: the partitions of MPI_Pready_list, or how many
// partitions each request has in calls that make partitioned requests.
struct MpiRequests {
  static constexpr std::uint16_t kCompleted = 1, kMore = 2, kPartitions = 4;
  static constexpr std::size_t kMost = 240;  // in one record
  static constexpr std::size_t words_of(std::uint16_t flags, std::size_t count) {
    return 2 + (flags & (kCompleted | kPartitions) ? (count + 1) / 2 : count);
  }
  Head head;  // a: flags, b: count
  std::uint64_t tick;
};
static_assert(sizeof(MpiRequests) == 16);

// An outermost call of a thread to a communication library above UCX other than MPI, such as
// OpenSHMEM. Fields that the function does not have are 0, a peer is kNone.
struct LibraryCall {
  // Flags. Above them: number of the collective operation (ucc_operations.hpp), plus 1; 0 = none.
  static constexpr std::uint32_t kStack = 1;         // `place` is the id of its Stack
  static constexpr std::uint32_t kUnknownBytes = 2;  // the arguments do not tell how many
  static constexpr unsigned kOperationShift = 8;
  static constexpr std::int32_t kNone = INT32_MIN;
  // A function number is that of its library and that within the library.
  static constexpr unsigned kFunctionBits = 12;
  static constexpr std::uint16_t kMaxFunctions = 1 << kFunctionBits;
  Head head;  // a: function number (TextKind::library_function), b: what it returned, if a status
  std::uint64_t start_tick;
  std::uint64_t duration_ticks;
  std::uint64_t scope;    // handle of a context or team
  std::uint64_t bytes;    // as its arguments say
  std::uint64_t request;  // handle of the request that was made, tested or released
  std::int32_t peer;      // PE or rank, as the argument has it
  std::uint32_t flags;
  std::uint64_t place;  // address in the program that the call returns to
  // Behind it, of a call that begins an operation of UCC: up to so many addresses in UCC's layers,
  // one for each place that made a task of the operation.
  static constexpr std::size_t kMostMakers = 4;
};
static_assert(sizeof(LibraryCall) == 64);

}  // namespace uctrace::log

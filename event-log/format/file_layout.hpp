// Layout of a uctrace event log. Its records are in events.hpp and definitions.hpp.
//
// A log is one file per process: a ProcessPage, followed by blocks of packed records and tables of
// further lanes. Records that are not packed yet lie in chunks: in a second file beside it
// (kLiveSuffix) if the storage is mapped, in memory if it is drained, behind the page if the
// process has no helper. The size of a chunk is a power of two (>= kMinChunkBytes). It is led by a
// ChunkHeader, and belongs to one lane (a recording thread) and one stream (events or definitions);
// chunks of a lane and stream follow each other by `sequence`. Inside a chunk records lie back to
// back, 8-byte aligned; a record whose first word is zero is not published yet and ends the
// readable part of its chunk. A block holds a run of the records of one chunk. All integers are in
// host byte order; the magic of a log shows its byte order.
//
// Times are ticks of the clock named in ProcessPage::clock; anchors turn them into nanoseconds.
// Handles (endpoints, workers, communicators) are the raw words that the program used. Their
// libraries reuse them, so a reader resolves a handle at a tick: the newest definition not later
// than it.
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

#include "event-log/format/counter.hpp"
#include "event-log/format/kinds.hpp"

namespace uctrace::log {

inline constexpr std::uint64_t kMagic = 0x31474f4c52544355;  // "UCTRLOG1", little endian
inline constexpr std::uint32_t kChunkMagic = 0x4b4e4843;     // "CHNK"
inline constexpr std::uint32_t kBlockMagic = 0x4b434150;     // "PACK"
inline constexpr std::uint32_t kGapMagic = 0x20504147;       // "GAP "
inline constexpr std::uint32_t kLanesMagic = 0x454e414c;     // "LANE"
inline constexpr std::uint32_t kFormatVersion = 8;

// Appended to the name of a log: the file of the chunks whose records are not in the log yet.
inline constexpr char kLiveSuffix[] = ".live";

inline constexpr std::size_t kMinChunkBytes = 64 * 1024;
inline constexpr std::size_t kMaxChunkBytes = 4 * 1024 * 1024;
inline constexpr std::size_t kProcessPageBytes = 128 * 1024;
// Lanes are in the page, and in tables that are added when threads need more.
inline constexpr std::size_t kPageLanes = 192;
inline constexpr std::size_t kLaneTableBytes = kMinChunkBytes;
inline constexpr std::size_t kTableLanes = 102;
inline constexpr std::size_t kMostLaneTables = 38;
inline constexpr std::size_t kMaxLanes = kPageLanes + kMostLaneTables * kTableLanes;
inline constexpr std::size_t kAnchors = 16;
// How often a process, and a `record` that waits for its job, gives a sign of life.
inline constexpr std::uint64_t kHeartbeatNs = 5'000'000'000;

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

// Ids are unique within a process: the lane, and a counter (from 1) of that lane and record type.
using Id = std::uint64_t;
inline constexpr unsigned kIdLaneShift = 48;
constexpr Id make_id(std::uint64_t lane, std::uint64_t number) {
  return lane << kIdLaneShift | number;
}
constexpr std::uint64_t lane_of(Id id) { return id >> kIdLaneShift; }
constexpr std::uint64_t number_in_lane(Id id) { return id & ((Id{1} << kIdLaneShift) - 1); }

// Totals of one lane, counted where the event happens and independently of the records, so that the
// accounting identities compare two separate counts. Never reset, never overwritten.
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
  Number dropped[kDropKinds];  // records lost; LaneInfo::dropped_by_cause says why
  Number recorded_events;      // records published in the event stream
  Number ucp_puts;             // UCP operations that did not fail at once, by family
  Number ucp_gets;
  Number ucp_atomics;
  Number ucp_flushes;
  Number ucp_am_sends;
  Number ucp_am_receives;       // calls of the program's active message handlers
  Number ucp_am_data_receives;  // ucp_am_recv_data_nbx
  // Requests that UCT took into a pending queue, refused to queue (there is room to post again), or
  // queued without our callback in them, because no place was free.
  Number uct_pending_added;
  Number uct_pending_refused;
  Number uct_pending_untracked;
  // Receives that an interface matches by itself (tag offload): accepted, and ended or cancelled.
  Number uct_tag_receives;
  Number uct_tag_receives_ended;
  Number ucp_stream_sends;
  Number ucp_stream_receives;
  // Requests that UCP queued inside itself and for whose context there was no room
  // (uct-shim/carried.hpp).
  Number ucp_requests_not_carried;
  // A log of bounded size (UCTRACE_MAX_LOG): events that newer ones overwrote, and the tick up to
  // which they reach. The thread that writes the file counts them, not the lane's own.
  Number overwritten[kDropKinds];
  Number overwritten_until_tick;  // 0 = none were
  // Call stacks that events requested, and of these: found by unwinding, not by the memo; deeper
  // than kMaxStackFrames; not taken, because another one was being taken on this thread.
  Number stacks_captured;
  Number stacks_unwound;
  Number stacks_truncated;
  Number stacks_skipped;
  // Events that were not recorded because recording was switched off (RecordingSwitch).
  Number outside_window[kEventKinds];
  Number uct_pending_left;     // requests that left a pending queue, or were lost sight of in it
  Number ucp_messages_taken;   // tag receives that ended with a message
  Number mpi_request_records;  // MpiRequests
  // Words of memory in records that were published, queries to a GPU driver about an address, and
  // addresses that it could not identify.
  Number memory_words;
  Number memory_queries;
  Number memory_unknown;
  // Calls of MPI_Parrived that found nothing and have no record (UCTRACE_POLLS), and their time.
  Number mpi_polls;
  Number mpi_poll_ticks;
  Number memory_calls;      // MemoryCall
  Number registered_bytes;  // of registrations that succeeded
  Number library_calls;     // LibraryCall
};
using LaneCounters = CountersOf<std::uint64_t>;
using LiveCounters = CountersOf<Counter>;  // while the lane's thread counts
static_assert(sizeof(LaneCounters) == 57 * 8);

// The outermost MPI call that a thread is in: the beginning of its MpiCall record, which is written
// only when the call returns. Plain stores, the head last and cleared first: a snapshot of a living
// process may mix two successive calls. Logs of earlier builds of this version have zeros in the
// first two fields: not known.
struct CurrentCall {
  std::uint64_t caller;   // address in the program that the call returns to
  std::uint64_t request;  // as of an MpiCall; if the call makes one, where it will store it
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
  Counter dropped_by_cause[kDropCauses];  // their sum is that of counters.dropped
};
static_assert(sizeof(LaneInfo) == 640);

// Leads further lanes, which follow it. Its place in the file is a multiple of kLaneTableBytes.
struct LaneTableHeader {
  std::uint32_t magic;
  std::uint32_t bytes;  // kLaneTableBytes
  std::uint32_t first_lane;
  std::uint32_t reserved0;
  std::uint64_t reserved1[30];
};
static_assert(sizeof(LaneTableHeader) + kTableLanes * sizeof(LaneInfo) == kLaneTableBytes);

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
  std::uint8_t reserved3[4];
  ExitKind exit;
  std::uint8_t closed;      // 1 once the process has written its last record in an orderly way
  std::uint8_t gpu_driver;  // 1 once a GPU driver library was seen in the process
  std::int32_t world_rank;  // -1 until MPI_Init
  std::int32_t world_size;
  std::uint32_t lanes_used;
  std::uint32_t write_errno;                       // why records were first lost, 0 if none were
  std::uint64_t allocated_bytes;                   // of the file, as far as it was written
  std::uint64_t dropped_without_lane[kDropKinds];  // of threads that got no lane
  std::uint32_t anchor_count;  // anchors[0] is the first; the last slot is refreshed for ever
  std::uint32_t file_system;   // f_type of statfs(2) where the log lies (file_systems.hpp)
  Anchor anchors[kAnchors];
  Storage storage;
  std::uint8_t reserved0[3];
  std::uint32_t image;           // 1, 2, ...: the process replaced itself (exec) so often since
                                 // its first log; 0 in that one
  std::uint64_t time_namespace;  // inode of /proc/self/ns/time, 0 if the kernel has none
  // As the launcher's environment has them. It is a rank only if this is the process that was
  // launched, not one that it started: the reader finds that out.
  std::int32_t launch_rank;
  std::int32_t launch_size;  // 0 = the environment has none
  StackMode stacks;
  Unwinder unwinder;
  std::uint16_t threads_at_end;  // lanes that other threads still had when this one closed the log
  std::uint8_t never_drops;  // 1: threads wait where they would drop records (UCTRACE_NEVER_DROP)
  ThreadLevel thread_level;  // that MPI provided
  std::uint8_t reserved2[2];
  std::uint64_t live_bytes;       // of the file of chunks beside the log; 0 = it is not needed
  std::uint64_t max_event_bytes;  // bound of the blocks of events, 0 = none
  std::uint64_t packing_ns;  // wall time for making the blocks of the log, without writing them
  std::uint64_t writing_ns;  // and for writing them
  // The sign of life, CLOCK_REALTIME: when it was last given; 0 = nothing gives one (liveness.hpp).
  std::uint64_t heartbeat_realtime_ns;
  std::uint64_t waits;      // of threads for memory to record into, and
  std::uint64_t waited_ns;  // how long they waited, where `never_drops` is set
  LayerState layers[kLayers];
  std::uint8_t reserved4[3];
  std::uint64_t reserved1[52];
  std::uint64_t dropped_without_lane_by_cause[kDropCauses];
  // Where the tables of further lanes are in the file, in their order; 0 = there is none.
  std::uint64_t lane_tables[kMostLaneTables];
  std::uint64_t chunk_bytes;  // of chunks behind this page, 0 = they are elsewhere
  // LaneInfo lanes[kPageLanes] follow at kLanesOffset.
};
inline constexpr std::size_t kLanesOffset = 8192;
static_assert(sizeof(ProcessPage) <= kLanesOffset);
static_assert(kLanesOffset + kPageLanes * sizeof(LaneInfo) == kProcessPageBytes);

// Where a lane is in the file; 0 = nowhere yet, or where no table can lie.
constexpr std::uint64_t place_of_lane(const ProcessPage& page, std::size_t lane) {
  if (lane < kPageLanes) return kLanesOffset + lane * sizeof(LaneInfo);
  const std::uint64_t table = page.lane_tables[(lane - kPageLanes) / kTableLanes];
  if (table % kLaneTableBytes != 0 || table == 0) return 0;
  return table + sizeof(LaneTableHeader) + (lane - kPageLanes) % kTableLanes * sizeof(LaneInfo);
}

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

// Leads packed records of one chunk (codec.hpp), from `first` on. A reader needs no other block to
// read it. Padded to kBlockAlignment with zeros.
struct BlockHeader {
  // A record that was begun and never finished follows these in the chunk.
  static constexpr std::uint8_t kUnfinished = 1;
  std::uint32_t magic;
  std::uint32_t bytes;  // of the whole block, this header included
  std::uint16_t lane;
  Stream stream;
  std::uint8_t flags;
  std::uint32_t sequence;             // of the chunk
  std::uint32_t first;                // offset of the first record in the chunk
  std::uint32_t raw_bytes;            // of the records as they were there
  std::uint32_t records[kDropKinds];  // how many records there are
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

}  // namespace uctrace::log

// The interface between the generated wrappers (C) and the runtime (C++): one MPI call.
//
// No MPI function takes a floating-point number or a structure by value, so a wrapper that forwards
// machine words is correct for every MPI library, whatever its type of handles. The upper half of a
// word that carries an int (or an int handle) is undefined: the runtime cuts it off.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(hidden)

typedef uintptr_t UctraceWord;

// Whether a call begins with a UCP operation, which may then share its times.
typedef enum UctracePosting {
  kUctracePostsNothing,  // or several operations, or not first
  kUctracePostsAndWaits,
  kUctracePosts,
} UctracePosting;

// The optional parts of a call's record, besides its time and scope, and the type of the record.
// See log::MpiCall and log::RecordType, which C cannot include.
enum {
  kUctracePeer = 1,
  kUctraceVolume = 2,
  kUctraceReceive = 4,
  kUctraceRequest = 8,
  kUctraceCaller = 16,
};
enum { kUctraceMpiCall = 6, kUctraceWindowCall = 7, kUctraceFileCall = 10 };

// The lower half of the record's first word: type, number of words, function and parts.
#define UCTRACE_HEAD(type, parts, function) \
  ((type) | UCTRACE_WORDS(parts) << 8 | (function) << 16 | (uint32_t)(parts) << 26)
#define UCTRACE_WORDS(parts)                                               \
  (4 + ((parts)&kUctracePeer ? 1 : 0) + ((parts)&kUctraceVolume ? 2 : 0) + \
   ((parts)&kUctraceReceive ? 3 : 0) + ((parts)&kUctraceRequest ? 1 : 0) + \
   ((parts)&kUctraceCaller ? 1 : 0))

// One measured call. It lives in the wrapper's frame and is recorded when that frame is left.
typedef struct UctraceCall {
  uint64_t start_tick;
  UctraceWord scope;    // its communicator, window or file; 0 where it has none
  UctraceWord result;   // of the original; kUctraceNotReturned if an exception passed through
  UctraceWord request;  // its handle or, if stores_request, where the call will store it
  UctraceWord caller;   // its return address
  uint32_t head;        // UCTRACE_HEAD
  uint8_t posting;      // UctracePosting
  bool stores_request;
  bool has_tag;
  bool big_counts;  // all its counts have 64 bits
} UctraceCall;
enum { kUctraceNotReturned = -1 };

// The arguments of one direction of a call; the parts of its record say which of them it has. For a
// window the peer is the target.
typedef struct UctraceHalf {
  UctraceWord peer, tag;
  UctraceWord count, datatype;
} UctraceHalf;

typedef struct UctraceMessage {
  UctraceCall call;
  UctraceHalf half;
  int32_t peer, tag;  // as in the log, once the call is entered
} UctraceMessage;

// A call that sends one message and is only counted. It lacks unneeded fields of the above:
// clearing them would take longer than the rest.
typedef struct UctraceSent {
  UctraceWord result;  // as of UctraceCall
  UctraceWord comm, peer, count, datatype;
  unsigned function;
  bool big_counts;
} UctraceSent;

typedef struct UctraceExchange {
  UctraceCall call;
  UctraceHalf send, receive;
} UctraceExchange;

// Which of a call's requests end in it or are started.
typedef enum UctraceEnding {
  kUctraceStarted,  // none, all are started
  kUctraceAllEnd,
  kUctraceOneEnds,
  kUctraceSomeEnd,
} UctraceEnding;

// A probe that may find a message, and only then stores its handle.
typedef struct UctraceProbe {
  UctraceMessage message;
  UctraceWord flag;  // address of whether it did
} UctraceProbe;

// A receive of a probed message that makes a request.
typedef struct UctraceProbedReceive {
  UctraceMessage message;
  UctraceWord probed;  // address of the message's handle
} UctraceProbedReceive;

// A call that takes several requests. It clears the handles of requests that it ends. So a waiting
// call records them at its entry. A testing call keeps them in the frame of its wrapper, as far as
// they fit, until it is known whether it ended any.
typedef struct UctraceRequests {
  UctraceCall call;
  UctraceWord requests, count;     // address of the handles
  UctraceWord flag;                // address of the flag "any (or all) ended"; 0 = has none
  UctraceWord index;               // address of the index that ended
  UctraceWord ended_count, ended;  // addresses of their number and indices
  UctraceWord* kept;               // at least kUctraceKept words; NULL: the call waits or starts
  UctraceEnding ending;
} UctraceRequests;
enum { kUctraceKept = 128 };

// A call that makes a partitioned request.
typedef struct UctracePartitioned {
  UctraceMessage message;
  UctraceWord partitions;  // how many
} UctracePartitioned;

// A call that says that partitions are ready: from the first to the last one.
typedef struct UctraceReady {
  UctraceCall call;
  UctraceWord first, last;
} UctraceReady;

// The same for a list.
typedef struct UctraceReadyList {
  UctraceCall call;
  UctraceWord count, list;  // how many, and the address of their numbers
} UctraceReadyList;

// A call that asks whether a request is complete or one of its partitions has arrived.
typedef struct UctraceTest {
  UctraceCall call;
  UctraceWord partition;  // if the call asks for one
  UctraceWord flag;       // address of the answer
} UctraceTest;

// How the amount of data of a collective operation follows from its arguments and communicator.
typedef enum UctraceVolumeRule {
  kUctraceNoVolume,
  kUctraceBcast,
  kUctraceAllreduce,
  kUctraceExscan,
  kUctraceReduce,
  kUctraceReduceScatter,
  kUctraceReduceScatterBlock,
  kUctraceGather,
  kUctraceGatherv,
  kUctraceScatter,
  kUctraceScatterv,
  kUctraceAllgather,
  kUctraceAllgatherv,
  kUctraceAlltoall,
  kUctraceAlltoallv,
  kUctraceAlltoallw,
  kUctraceNeighborAllgather,
  kUctraceNeighborAllgatherv,
  kUctraceNeighborAlltoall,
  kUctraceNeighborAlltoallv,
  kUctraceNeighborAlltoallw,
  kUctraceScan,
} UctraceVolumeRule;

// The arguments of a collective operation for one direction. It has either count or counts, and
// either datatype or datatypes.
typedef struct UctraceSide {
  UctraceWord buffer;  // compared with MPI_IN_PLACE only
  UctraceWord count;
  UctraceWord counts;  // address of a count for each process
  UctraceWord datatype;
  UctraceWord datatypes;  // address of a datatype for each process
} UctraceSide;

typedef struct UctraceCollective {
  UctraceCall call;
  UctraceSide send, receive;
  UctraceWord root;
  UctraceVolumeRule rule;
} UctraceCollective;

// Which processes call a communicator constructor, and which are in the new communicator.
typedef enum UctraceMaking {
  kUctraceByParent,   // called by all processes of the parent
  kUctraceByMembers,  // called by those of the new communicator only
  kUctraceDuplicate,  // called by all of the parent; the new one has the same members
} UctraceMaking;

typedef struct UctraceConstruction {
  UctraceCall call;
  UctraceWord new_communicator;  // address of the new handle
  UctraceWord tag, tag_text;     // if has_tag, one of them: it matches the calls of the members
  UctraceMaking making;
  bool has_tag;
} UctraceConstruction;

// A window or a file is made from a communicator, or a session from nothing.
typedef struct UctraceMade {
  UctraceCall call;
  UctraceWord made;  // address of the new handle
} UctraceMade;

// A session ends.
typedef struct UctraceSession {
  UctraceCall call;
  UctraceWord session;  // address of its handle
  bool is_last;         // once it is entered
} UctraceSession;

typedef struct UctraceRename {
  UctraceCall call;
  UctraceWord name;  // address of a string
} UctraceRename;

typedef enum UctraceEntry { kUctraceMpi = 0, kUctracePmpi = 1 } UctraceEntry;

typedef struct UctraceFunction {
  const char* pmpi_name;  // the MPI name is the same without its first letter
  void* original[2];      // by UctraceEntry; NULL until the first call, or if the library has none
  bool described;         // its name is in the log
} UctraceFunction;

// A handle: the address of `symbol`, or `value` if that is NULL.
typedef struct UctraceHandle {
  const char* symbol;
  UctraceWord value;
} UctraceHandle;

enum { kUctraceCombiners = 20, kUctraceNoCombiner = -1 };

typedef struct UctraceFlavour {
  const char* const* versions;  // ends with NULL; if not empty, the version text contains one
  const char* own_symbol;       // exported by the library itself; NULL: any may be
  bool is_standard_abi;         // what MPI_Abi_get_version says
  uint32_t handle_bytes;
  int32_t proc_null, any_source, any_tag, undefined, root, in_place;
  int32_t cartesian, graph, distributed_graph;  // of MPI_Topo_test
  int32_t thread_single, thread_funneled, thread_serialized, thread_multiple;
  int32_t combiners[kUctraceCombiners];  // MPI_COMBINER_*, from log::Combiner's first known one on
  // Constants of MPI_T (mpi_flavours.txt).
  int32_t t_memory, t_invalid, t_invalid_index, t_invalid_session, t_invalid_handle,
      t_out_of_handles, t_no_write, t_no_startstop, t_no_atomic;
  int32_t t_size, t_counter, t_aggregate, t_generic;  // classes
  int32_t t_user_basic, t_tuner_basic, t_mpidev_all;  // verbosities
  int32_t t_no_object, t_comm, t_local;
  UctraceHandle comm_null, comm_self, comm_world, datatype_null, no_op, request_null, byte,
      errors_return, char_type, int_type, unsigned_long_type;
  UctraceHandle t_all_handles;  // if it is a symbol, the value stored there
} UctraceFlavour;

// What a call that is left out needs to know of the library (mpi::Library).
typedef struct UctraceConstants {
  UctraceWord handle_mask, request_null;
  int32_t proc_null, any_source, any_tag;
} UctraceConstants;

// Which way the most common classes of calls take.
typedef enum UctraceWay {
  kUctraceRecords,
  kUctraceCounts,     // a shorter one: they are only counted
  kUctraceLeavesOut,  // another: recording is off
} UctraceWay;

// --- the recorder's, for calls that are left out: C cannot include its headers -------------------
// mpi-attribution/way.cpp compares them.

typedef struct UctraceShownCall {  // log::CurrentCall
  uint64_t caller, request, head, start_tick, scope;
  int32_t peer, tag;
} UctraceShownCall;

typedef struct UctraceThreadLane {  // log::detail::ThreadLane
  char* lane;
  uint32_t generation, asked_in, lanes_then;
} UctraceThreadLane;

enum { kUctraceNoPeer = INT32_MIN, kUctraceAny = -1, kUctraceNull = -2 };  // of log::MpiCall
enum { kUctraceRecordingOn = 1 };
enum { kUctraceInfo = 32, kUctraceSharedTick = 56, kUctraceSeen = 176 };   // in a lane
enum { kUctraceCalls = 112, kUctraceOutside = 368, kUctraceShown = 464 };  // in its LaneInfo
enum { kUctraceCallerPages = 1024, kUctraceCodePageBits = 12 };

extern uint32_t* uctrace_armed;  // log::detail::armed: the log's generation
extern uint64_t uctrace_recording_state;
extern uint64_t uctrace_caller_pages[kUctraceCallerPages];

// --- generated -----------------------------------------------------------------------------------

extern UctraceFunction uctrace_mpi_functions[];
extern const unsigned uctrace_mpi_function_count;
extern const UctraceFlavour uctrace_mpi_flavours[];
extern const unsigned uctrace_mpi_flavour_count;

// --- runtime: called by the wrappers, on the thread of the call ----------------------------------

// Whether calls are measured. Set once, before the first original becomes visible.
extern bool uctrace_mpi_recording;

// A UctraceWay; other than kUctraceRecords in a world that is already described only. Accessed with
// __atomic builtins. It may be behind: a call that is left out looks for itself.
extern uint8_t uctrace_mpi_way;

// Set before the first wrapper sees uctrace_mpi_recording.
extern UctraceConstants uctrace_mpi_constants;

// Whether uctrace offers its own variables through MPI_T (tool_calls.cpp); set when
// uctrace_mpi_recording is.
extern bool uctrace_mpi_offers_variables;

// The function that `caller` would have reached without this library. The first call in a process
// finds all of them and opens the log (about 1 ms). If there is no such function, ends the process
// with a message.
void* uctrace_mpi_resolve(unsigned number, UctraceEntry entry, const void* caller);

// MPI_Pcontrol was called with `level`; returns its original.
__attribute__((used)) void* uctrace_mpi_pcontrol(UctraceWord level, unsigned function,
                                                 UctraceEntry entry, const void* caller);

// Whether `caller` lies in a Fortran binding, whose calls to PMPI functions are the program's own.
bool uctrace_mpi_called_by_binding(const void* caller);

// The handle at the address in `pointer`, 0 if that is NULL.
UctraceWord uctrace_mpi_handle_at(UctraceWord pointer);

// The handle of the request at an address, or of a request; 0 is MPI_REQUEST_NULL.
UctraceWord uctrace_mpi_request_at(UctraceWord pointer);
UctraceWord uctrace_mpi_request(UctraceWord request);

// `count`, or 0 for the reduction MPI_NO_OP, whose operands need not be valid.
UctraceWord uctrace_mpi_operands(UctraceWord op, UctraceWord count);

// `count` elements in each of `partitions`. `large`: the function's name says that counts have 64
// bits. Other functions have 64-bit counts, too, unless the library has both kinds.
UctraceWord uctrace_mpi_product(UctraceWord partitions, UctraceWord count, bool large);

// Takes the start time and shows the call as the thread's current one; the last step before the
// original is called.
void uctrace_mpi_enter(UctraceCall* call);
void uctrace_mpi_enter_message(UctraceMessage* message);
void uctrace_mpi_enter_exchange(UctraceExchange* exchange);
void uctrace_mpi_enter_probed_receive(UctraceProbedReceive* receive);
void uctrace_mpi_enter_requests(UctraceRequests* requests);
void uctrace_mpi_enter_finalize(UctraceCall* call);
void uctrace_mpi_enter_session_finalize(UctraceSession* session);
// Records the call at once, because it does not return.
void uctrace_mpi_enter_abort(UctraceCall* call);
// Only notes that a datatype's handle may be reused: such calls are not recorded.
void uctrace_mpi_enter_type_release(UctraceCall* call);

// Each records its call: about 20 ns including the start, most of it two clock readings.
// Constructors, init, release and rename also write definitions; for these, init and communicator
// constructors ask the library.
void uctrace_mpi_leave_call(const UctraceCall* call);
void uctrace_mpi_leave_message(const UctraceMessage* message);
void uctrace_mpi_leave_exchange(const UctraceExchange* exchange);
void uctrace_mpi_leave_probe(const UctraceProbe* probe);
void uctrace_mpi_leave_requests(const UctraceRequests* requests);
void uctrace_mpi_leave_partitioned(const UctracePartitioned* made);
void uctrace_mpi_leave_ready(const UctraceReady* ready);
void uctrace_mpi_leave_ready_list(const UctraceReadyList* ready);
void uctrace_mpi_leave_test(const UctraceTest* test);
// A call that found nothing and did nothing is only counted, unless UCTRACE_POLLS is set.
void uctrace_mpi_leave_arrived(const UctraceTest* test);
void uctrace_mpi_leave_collective(const UctraceCollective* collective);
void uctrace_mpi_leave_construction(const UctraceConstruction* construction);
void uctrace_mpi_leave_release(const UctraceCall* call);
void uctrace_mpi_leave_window_making(const UctraceMade* made);
void uctrace_mpi_leave_window_release(const UctraceCall* call);
void uctrace_mpi_leave_file_making(const UctraceMade* made);
void uctrace_mpi_leave_file_release(const UctraceCall* call);
void uctrace_mpi_leave_rename(const UctraceRename* rename);
void uctrace_mpi_leave_init(const UctraceCall* call);
void uctrace_mpi_leave_finalize(const UctraceCall* call);
void uctrace_mpi_leave_session_making(const UctraceMade* made);
void uctrace_mpi_leave_session_finalize(const UctraceSession* session);

// The shorter path: for a call that sends nothing by itself, and for one that sends a message.
void uctrace_mpi_count_call(unsigned function);
void uctrace_mpi_count_send(const UctraceSent* sent);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

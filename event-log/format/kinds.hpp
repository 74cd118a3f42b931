// The enumerations of an event log, as its records and its ProcessPage number them. Values are part
// of the format: never renumber, only append (docs/log-format.md).
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/fault_codes.hpp"
#include "event-log/format/ucx_functions.hpp"

namespace uctrace::log {

enum class Clock : std::uint8_t { tsc = 1, cntvct = 2, monotonic_raw = 3 };

// `library`: communication libraries above UCX other than MPI.
enum class Layer : std::uint8_t { uct = 0, ucp = 1, mpi = 2, gpu = 3, library = 4 };
inline constexpr std::size_t kLayers = 5;

// `unused`: the process never touched the layer. `off`: it was switched off; a Fault says why.
// `unwanted`: the user left it out (`record --layers`).
enum class LayerState : std::uint8_t { unused = 0, on = 1, off = 2, unwanted = 3 };

// Whether the layer is off for good and makes no records.
constexpr bool is_off(LayerState state) {
  return state == LayerState::off || state == LayerState::unwanted;
}

// How the process ended, as far as it could say itself. A live or killed process stays `running`.
enum class ExitKind : std::uint8_t { running = 0, exited = 1, finalized = 2, aborted = 3 };

// How records reach the file. `mapped`: they are stored into its pages, and survive the process.
// `drained`: they are kept in memory and written later; if the process is killed, those that were
// not written yet are lost.
enum class Storage : std::uint8_t { unknown = 0, mapped = 1, drained = 2 };

// The thread level of MPI: which threads of a process may call it, and when.
enum class ThreadLevel : std::uint8_t { unknown = 0, single, funneled, serialized, multiple };

// Whose call stacks are kept. `mpi`: those of the program's own calls, to MPI or from outside of
// MPI to UCP. `all`: also those of each UCP and UCT operation, with their libraries' frames.
enum class StackMode : std::uint8_t { off = 0, mpi = 1, all = 2 };

// What walked the stacks; `none` before the first one.
enum class Unwinder : std::uint8_t { none = 0, libunwind = 1, libgcc = 2 };

enum class Stream : std::uint8_t { events = 1, definitions = 2 };

enum class RecordType : std::uint8_t {
  unpublished = 0,
  // events
  uct_operation = 1,
  uct_completion = 2,
  uct_arrival = 3,
  ucp_operation = 4,
  ucp_completion = 5,
  mpi_call = 6,
  mpi_window_call = 7,
  uct_pending = 8,
  mpi_requests = 9,
  mpi_file_call = 10,
  memory_call = 11,
  library_call = 12,
  // definitions
  text = 32,
  uct_interface = 33,
  uct_interface_close = 34,
  uct_endpoint = 35,
  uct_endpoint_address = 36,
  uct_endpoint_connect = 37,
  uct_endpoint_destroy = 38,
  ucp_worker = 39,
  ucp_worker_destroy = 40,
  ucp_endpoint = 41,
  communicator = 43,
  communicator_free = 44,
  fault = 45,
  window = 46,
  ucp_connection = 47,
  stack = 48,
  module = 49,
  recording_switch = 50,
  datatype = 51,
  datatype_free = 52,
  window_free = 53,
  file = 54,
  file_close = 55,
  clock_sample = 56,
  tool_traffic = 57,
  gpu_driver = 58,
  gpu_device = 59,
  device_memory = 60,
  device_memory_end = 61,
  ucx_device = 62,
  kernel_access = 63,
};
inline constexpr std::size_t kEventTypes = 16;  // all types of events are less

#define UCTRACE_ENUMERATOR(name, ...) name,
enum class UctOp : std::uint8_t { none = 0, UCTRACE_UCT_OPS(UCTRACE_ENUMERATOR) kCount };

// What came up from a transport.
enum class ArrivalKind : std::uint8_t {
  active_message = 0,
  // Tag offload. Unexpected: no posted receive took it. Matched: a posted receive did. For a
  // rendezvous, the layer above then fetches the data, or all of it is in place.
  tag_eager_unexpected,
  tag_rndv_unexpected,
  tag_matched,
  tag_rndv_matched,
  kCount
};

// What a transport's device is (uct_device_type_t): copies between the memories of one process go
// through an accelerator.
enum class DeviceType : std::uint8_t {
  network = 0,
  shared_memory,
  accelerator,
  self,
  unknown = 255
};

// What became of a request in the pending queue of an endpoint.
enum class PendingEvent : std::uint8_t {
  none = 0,
  added,
  dispatched,  // and done: it left the queue
  purged,
  lost_sight,  // no place was left to keep what is known of it; it is still in the queue
  kCount
};

// The slots of an interface's table of operations that have a hook, as bits of
// UctInterface::offered and hooked.
enum class UctHook : std::uint8_t { UCTRACE_UCT_SLOTS(UCTRACE_ENUMERATOR) kCount };

enum class UcpFunction : std::uint8_t {
  none = 0,
  UCTRACE_UCP_FUNCTIONS(UCTRACE_ENUMERATOR) kCount
};
#undef UCTRACE_ENUMERATOR

// What a UCP function does, which decides what the fields of its record mean (UcpOperation).
enum class UcpFamily : std::uint8_t {
  none,
  tag_send,
  tag_receive,
  put,
  get,
  atomic,
  flush,  // also fences and the closing of endpoints
  am_send,
  am_receive,       // a handler's call
  am_receive_data,  // fetches data that a handler only got a descriptor of
  stream_send,
  stream_receive,
};

namespace detail {
// A table, because the record path looks up every operation.
inline constexpr UcpFamily kFamilies[] = {
    UcpFamily::none,
#define UCTRACE_FAMILY(function, family) UcpFamily::family,
    UCTRACE_UCP_FUNCTIONS(UCTRACE_FAMILY)
#undef UCTRACE_FAMILY
        UcpFamily::none,
};
}  // namespace detail

constexpr UcpFamily family_of(UcpFunction function) {
  return function < UcpFunction::kCount ? detail::kFamilies[static_cast<std::size_t>(function)]
                                        : UcpFamily::none;
}

// A function that makes memory known to other processes.
enum class MemoryFunction : std::uint8_t {
  none = 0,
#define UCTRACE_ENUMERATOR(name, ...) name,
  UCTRACE_MEMORY_FUNCTIONS(UCTRACE_ENUMERATOR)
#undef UCTRACE_ENUMERATOR
      kCount
};

enum class MemoryAction : std::uint8_t {
  none,
  registration,    // memory of this process, with a memory domain
  attachment,      // of another process's memory, by its key
  deregistration,  // ends one of these
  key_packing,     // for other processes
  key_unpacking,   // of other processes
  key_release,     // gives an unpacked one back
  mapping,         // by UCP, with all memory domains that need it
  unmapping,
  kernel_endpoint,  // kernels on a GPU may post on an endpoint (KernelAccess)
  kernel_memory,    // kernels may also use memory
  kernel_release,   // ends one of these
};

namespace detail {
inline constexpr MemoryAction kMemoryActions[] = {MemoryAction::none,
#define UCTRACE_ACTION(function, action) MemoryAction::action,
                                                  UCTRACE_MEMORY_FUNCTIONS(UCTRACE_ACTION)
#undef UCTRACE_ACTION
};
}  // namespace detail

constexpr MemoryAction action_of(MemoryFunction function) {
  return function < MemoryFunction::kCount
             ? detail::kMemoryActions[static_cast<std::size_t>(function)]
             : MemoryAction::none;
}

enum class ConnectionSide : std::uint8_t { client = 0, server = 1 };

// What led to a UCT operation: the evidence for its attribution.
enum class Origin : std::uint8_t {
  none = 0,     // nothing known (progress, wireup)
  ucp = 1,      // Operation::origin is the id of a UcpOperation of this process
  arrival = 2,  // Operation::origin is the id of a UctArrival of this process
};

// How the origin reached the operation.
enum class Route : std::uint8_t {
  none = 0,
  call = 1,        // posted inside the UCP call itself, or inside the active message handler
  pending = 2,     // dispatched from a pending queue; origin was kept since it was queued
  completion = 3,  // posted from the completion callback of an operation with that origin
  request = 4,   // for a request that UCP had queued inside itself; origin was kept by its address
  blocking = 5,  // posted inside a blocking call, which also makes progress for others
  callback = 6,  // posted from a callback that the operation registered with UCX's progress
};

enum class TextKind : std::uint8_t {
  command_line = 1,  // arguments separated by '\n'
  environment = 2,   // NAME=VALUE, of the names that setting_names.hpp takes
  ucx_version = 3,   // of a libucp; `id`: its number in the process
  ucx_library = 4,   // its path
  mpi_library = 5,   // first line of MPI_Get_library_version
  mpi_function = 6,  // `id` is MpiCall's function number
  working_directory = 7,
  executable = 8,
  communicator_name = 9,  // `id` is the communicator handle
  ucx_protocol = 10,      // `id` is UctOperation's protocol number
  uct_library = 11,       // path of a libuct in use; `id` 1: it is a rebuilt one, 0: a stock one
  recording_when = 12,    // the user's conditions; `id` 1: to start recording, 0: to stop
  gpu_library = 13,       // path of the GPU driver that is asked about memory
  gpu_history = 14,  // of allocations; `id` 0: its source, 1: the library that should be its source
  setting = 15,      // NAME=VALUE, from elsewhere; `id` is a SettingFrom (setting_names.hpp)
  network_card = 16,      // its counters; lowest bit of `id` 0: at the start, 1: at the end
  memory_domain = 17,     // `id` is a MemoryCall's domain
  library = 18,           // its name, then what it says of itself; `id` is its number
  library_function = 19,  // `id` is LibraryCall's function number
  kCount
};

// How a datatype was made: MPI_COMBINER_*.
enum class Combiner : std::uint8_t {
  unknown = 0,
  named,  // a predefined one
  dup,
  contiguous,
  vector,
  hvector_integer,
  hvector,
  indexed,
  hindexed_integer,
  hindexed,
  indexed_block,
  struct_integer,
  structure,
  subarray,
  darray,
  f90_real,
  f90_complex,
  f90_integer,
  resized,
  hindexed_block,
  value_index,
  kCount
};

// What switched the recording of events on or off. `start`: the state at the start.
enum class SwitchCause : std::uint8_t { start = 0, pcontrol = 1, signal = 2, kCount };

// Kinds of records that can be dropped; index of LaneCounters::dropped. `uncounted`: records that
// are tried again. `mpi`: of all calls above UCX, also those of other libraries.
enum class DropKind : std::uint8_t { uct = 0, ucp = 1, mpi = 2, definition = 3, uncounted = 4 };
inline constexpr std::size_t kDropKinds = 4;
// Those of the event stream, which come first.
inline constexpr std::size_t kEventKinds = 3;

// Why a record was dropped; index of LaneInfo::dropped_by_cause. log-merger/model/drop_words.cpp
// has the words for it.
enum class DropCause : std::uint8_t {
  helper_late = 0,  // chunks were used up before the helper came to make more
  helper_gone,      // the same, and the helper had not come for a second or more
  packing_slow,     // chunks wait for being packed
  storage_slow,     // chunks wait for the file system
  chunks_bound,     // threads hold as many chunks as the recorder makes
  no_memory,
  no_room,  // on the disk, or in a quota
  file_too_large,
  refused,       // a system call was refused: by a sandbox, or by the file system
  not_writable,  // the folder
  removed,       // the log or its folder
  no_answer,     // of the file system
  storage_failed,
  no_thread,  // for the helper
  no_lane,    // more threads than kMaxLanes
  in_switch,  // recorded by a signal handler that interrupted its thread between two chunks
  kCount
};
inline constexpr std::size_t kDropCauses = static_cast<std::size_t>(DropCause::kCount);

// The counter for a record that was made and then lost.
constexpr DropKind drop_kind_of(RecordType type) {
  switch (type) {
    case RecordType::uct_operation:
    case RecordType::uct_completion:
    case RecordType::uct_arrival:
    case RecordType::uct_pending:
    case RecordType::memory_call:
      return DropKind::uct;
    case RecordType::ucp_operation:
    case RecordType::ucp_completion:
      return DropKind::ucp;
    case RecordType::mpi_call:
    case RecordType::mpi_window_call:
    case RecordType::mpi_file_call:
    case RecordType::mpi_requests:
    case RecordType::library_call:
      return DropKind::mpi;
    default:
      return DropKind::definition;
  }
}

}  // namespace uctrace::log

// Turns measured calls into records.
//
// Only the outermost call of a thread is measured: calls that a library makes of itself, or of
// another one that is measured, pass through. A longjmp may leave a call without its end. So a call
// is identified by its frame, and one that is not above the current frame is dead.
#include <atomic>
#include <cstring>

#include "call-stacks/callers.hpp"
#include "call-stacks/stacks.hpp"
#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/recorder.hpp"
#include "library-attribution/libraries.hpp"
#include "library-attribution/ucc_arguments.hpp"

namespace uctrace::library {
namespace {

using log::LibraryCall;

static_assert(kUctraceNoPeer == LibraryCall::kNone);

// Frame of the measured call that is in progress on this thread, 0 if there is none.
thread_local constinit UctraceWord measured_frame __attribute__((tls_model("initial-exec"))) = 0;

bool is_outermost(const UctraceLibraryCall& call) {
  return measured_frame == 0 || call.frame >= measured_frame;
}

// Names the function at its first use.
UCTRACE_HOT inline void describe(UctraceLibraryFunction& function) {
  const std::atomic_ref described(function.described);
  if (!described.load(std::memory_order_relaxed)) [[unlikely]] {
    if (!described.exchange(true)) name_function(function);
  }
}

// The places that made tasks of the operation of UCC that this thread begins, each once.
struct TaskMakers {
  bool are_asked = false;
  std::size_t count = 0;
  UctraceWord places[LibraryCall::kMostMakers] = {};
};
thread_local constinit TaskMakers makers __attribute__((tls_model("initial-exec"))){};

void add_maker(UctraceWord place) {
  for (std::size_t i = 0; i < makers.count; ++i) {
    if (makers.places[i] == place) return;
  }
  if (makers.count == LibraryCall::kMostMakers) return;
  stacks::know_caller(place);
  makers.places[makers.count++] = place;
}

// What UCC's structures say before the call. An event is its owner's again once the call returned.
void look_into(UctraceLibraryCall& call) {
  if (call.ucc_role == kUctraceOperation) {
    makers.are_asked = true;
    makers.count = 0;
  } else if (call.ucc_role == kUctraceEvent) {
    call.request = request_of_ucc_event(reinterpret_cast<const void*>(call.ucc));
  } else if (call.ucc_role == kUctraceEndedTeam) {
    call.scope = call.ucc;
    forget_ucc_team(call.scope);
  }
}

UCTRACE_HOT inline void begin(UctraceLibraryCall& call) {
  if (call.ucc_role != kUctraceNothing) [[unlikely]]
    look_into(call);
  describe(*call.function);
  log::Lane* lane = log::lane();
  stacks::know_caller(call.caller);
  call.start_tick = log::now();
  if (lane != nullptr) [[likely]] {
    lane->end_shared_tick();
  }
}

// The handle that a call made, else the one that it was given.
std::uint64_t handle_of(const UctraceLibraryCall& call, UctraceWord given, UctraceWord made_at) {
  if (made_at == 0 || call.result != 0) return given;
  std::uint64_t made;
  std::memcpy(&made, reinterpret_cast<const void*>(made_at), sizeof made);
  return made;
}

// Also of a call that has no record: later ones need the team's size.
void remember_team(const UctraceLibraryCall& call) {
  if (call.ucc_role != kUctraceTeamParams || call.result != 0) return;
  remember_ucc_team(handle_of(call, call.scope, call.new_scope),
                    reinterpret_cast<const void*>(call.ucc));
}

// What the arguments of an operation of UCC say, once it has accepted them.
void take_operation(const UctraceLibraryCall& call, LibraryCall& record) {
  const UccArguments operation =
      read_ucc_arguments(reinterpret_cast<const void*>(call.ucc), record.scope);
  record.bytes = operation.bytes;
  record.peer = operation.root;
  if (!operation.knows_bytes) record.flags |= LibraryCall::kUnknownBytes;
  if (operation.number != UccArguments::kNoOperation) {
    record.flags |= (operation.number + 1u) << LibraryCall::kOperationShift;
  }
}

UCTRACE_HOT inline void record(const UctraceLibraryCall& call) {
  const std::uint64_t end_tick = log::now();
  log::Lane* lane = log::lane();
  if (lane == nullptr) [[unlikely]] {
    log::count_without_lane(log::DropKind::mpi);
    return;
  }
  lane->end_shared_tick();
  ++lane->counters().library_calls;
  const std::size_t maker_bytes =
      call.ucc_role == kUctraceOperation ? makers.count * sizeof *makers.places : 0;
  auto* record = lane->reserve<LibraryCall>(log::DropKind::mpi, maker_bytes);
  if (record == nullptr) [[unlikely]] {
    return;
  }
  const std::uint32_t stack = stacks::of_call(*lane);
  record->start_tick = call.start_tick;
  record->duration_ticks = end_tick - call.start_tick;
  record->scope = handle_of(call, call.scope, call.new_scope);
  record->bytes = call.bytes;
  record->request = handle_of(call, call.request, call.new_request);
  record->peer = call.peer;
  record->flags = stack != 0 ? LibraryCall::kStack : 0;
  record->place = stack != 0 ? stack : call.caller;
  if (call.ucc_role == kUctraceOperation && call.result == 0) [[unlikely]] {
    take_operation(call, *record);
  }
  std::memcpy(record + 1, makers.places, maker_bytes);
  log::publish(record, log::RecordType::library_call, (sizeof *record + maker_bytes) / 8,
               call.function->number, static_cast<std::uint32_t>(call.result));
}

}  // namespace
}  // namespace uctrace::library

extern "C" {

void* uctrace_library_enter(UctraceLibraryCall* call) {
  using namespace uctrace;
  void* const original = library::original_of(*call->function, call->caller);
  if (!library::is_recording() || !library::is_outermost(*call) || log::counts_only()) {
    return original;
  }
  library::measured_frame = call->frame;
  library::begin(*call);
  if (call->never_returns) {
    library::record(*call);
  } else {
    call->is_measured = true;
  }
  return original;
}

void* uctrace_library_task(UctraceLibraryFunction* function, UctraceWord caller) {
  using namespace uctrace;
  void* const original = library::original_of(*function, caller);
  if (library::makers.are_asked) library::add_maker(caller);
  return original;
}

void uctrace_library_leave(const UctraceLibraryCall* call) {
  using namespace uctrace;
  if (!call->is_measured) return;
  library::makers.are_asked = false;
  library::remember_team(*call);
  library::record(*call);
  library::tell_library(*call);
  library::measured_frame = 0;
}

}  // extern "C"

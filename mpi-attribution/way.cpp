#include "mpi-attribution/way.hpp"

#include <cstddef>

#include "call-stacks/callers.hpp"
#include "event-log/recorder/counters.hpp"
#include "event-log/recorder/recorder.hpp"
#include "mpi-attribution/call.h"
#include "mpi-attribution/communicators.hpp"

extern "C" {
[[gnu::used]] constinit std::uint8_t uctrace_mpi_way = kUctraceRecords;  // by assembly, too
constinit UctraceConstants uctrace_mpi_constants{};
}

namespace uctrace::mpi {
namespace {

UctraceWay way_now() {
  if (!world_is_described()) return kUctraceRecords;
  if (log::counts_only()) {
    const bool by_init = world_by.load(std::memory_order_acquire) == WorldBy::init;
    return by_init ? kUctraceCounts : kUctraceRecords;
  }
  return log::leaves_out() ? kUctraceLeavesOut : kUctraceRecords;
}

// --- what call.h says of the recorder ------------------------------------------------------------

using log::CurrentCall;
using log::Lane;
using log::LaneCounters;
using log::LaneInfo;
using log::MpiCall;
using log::detail::ThreadLane;

static_assert(sizeof(UctraceShownCall) == sizeof(CurrentCall) &&
              offsetof(UctraceShownCall, caller) == offsetof(CurrentCall, caller) &&
              offsetof(UctraceShownCall, request) == offsetof(CurrentCall, request) &&
              offsetof(UctraceShownCall, head) == offsetof(CurrentCall, head) &&
              offsetof(UctraceShownCall, start_tick) == offsetof(CurrentCall, start_tick) &&
              offsetof(UctraceShownCall, scope) == offsetof(CurrentCall, scope) &&
              offsetof(UctraceShownCall, peer) == offsetof(CurrentCall, peer) &&
              offsetof(UctraceShownCall, tag) == offsetof(CurrentCall, tag));
static_assert(static_cast<int>(log::RecordType::unpublished) == 0, "nothing is shown");
static_assert(sizeof(UctraceThreadLane) == sizeof(ThreadLane) &&
              offsetof(UctraceThreadLane, lane) == offsetof(ThreadLane, lane) &&
              offsetof(UctraceThreadLane, generation) == offsetof(ThreadLane, generation));
static_assert(kUctraceNoPeer == MpiCall::kNone && kUctraceAny == MpiCall::kAny &&
              kUctraceNull == MpiCall::kNull);
static_assert(kUctraceRecordingOn == log::kRecordingOn);
static_assert(kUctraceInfo == offsetof(Lane, info) &&
              kUctraceSeen == offsetof(Lane, recording_seen) &&
              kUctraceSharedTick == offsetof(Lane, shared_tick) + offsetof(log::SharedTick, of) &&
              static_cast<int>(log::SharedTick::Of::nothing) == 0);
static_assert(kUctraceCalls == offsetof(LaneInfo, counters) + offsetof(LaneCounters, mpi_calls) &&
              kUctraceOutside == offsetof(LaneInfo, counters) +
                                     offsetof(LaneCounters, outside_window) +
                                     8 * static_cast<int>(log::DropKind::mpi) &&
              kUctraceShown == offsetof(LaneInfo, current_call));
static_assert(kUctraceCallerPages == stacks::detail::kCallerPages &&
              kUctraceCodePageBits == stacks::detail::kCodePageBits);

}  // namespace

// Recording may be switched in between, on another thread or in a signal handler.
void choose_way() {
  UctraceWay way;
  do {
    way = way_now();
    __atomic_store_n(&uctrace_mpi_way, static_cast<std::uint8_t>(way), __ATOMIC_SEQ_CST);
  } while (way_now() != way);
}

}  // namespace uctrace::mpi

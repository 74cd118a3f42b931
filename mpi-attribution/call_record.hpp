// How a measured call is entered and recorded: shared by the recorders of all classes. Nothing here
// asks the MPI library before the call has succeeded, so a wrong argument is reported by the call
// itself and nowhere else.
#pragma once

#include <atomic>

#include "call-stacks/callers.hpp"
#include "call-stacks/stacks.hpp"
#include "event-log/recorder/recorder.hpp"
#include "mpi-attribution/communicators.hpp"
#include "mpi-attribution/counted_calls.hpp"
#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

using log::MpiCall;

inline std::int32_t as_int(Word word) { return static_cast<std::int32_t>(word); }

// MPI_SUCCESS is 0 in every flavour.
inline bool succeeded(const UctraceCall& call) { return as_int(call.result) == 0; }

static_assert(kUctracePeer == MpiCall::kPeer && kUctraceVolume == MpiCall::kVolume &&
              kUctraceReceive == MpiCall::kReceive && kUctraceRequest == MpiCall::kRequest &&
              kUctraceCaller == MpiCall::kCaller);
static_assert(kUctraceMpiCall == static_cast<int>(log::RecordType::mpi_call) &&
              kUctraceWindowCall == static_cast<int>(log::RecordType::mpi_window_call) &&
              kUctraceFileCall == static_cast<int>(log::RecordType::mpi_file_call));
static_assert(UCTRACE_WORDS(31) == MpiCall::words_of(31) && MpiCall::kFunctionBits == 10);

inline std::uint16_t function_of(const UctraceCall& call) {
  return static_cast<std::uint16_t>(call.head >> 16 & (MpiCall::kMaxFunctions - 1));
}
inline bool has(const UctraceCall& call, std::uint16_t part) {
  return (call.head >> 26 & part) != 0;
}

// Names the function at its first use.
void name_function(unsigned number);
UCTRACE_HOT inline void describe(unsigned number) {
  const std::atomic_ref described(uctrace_mpi_functions[number].described);
  if (!described.load(std::memory_order_relaxed)) [[unlikely]] {
    name_function(number);
  }
}

// If another tool hid the program's MPI_Init, its next call reveals it.
inline void notice_world(const UctraceCall& call) {
  if (!world_is_described()) [[unlikely]]
    describe_world(function_of(call));
}

// Atomic: the helper may copy the page at the same time.
template <typename Value>
void show(Value& field, Value value) {
  __atomic_store_n(&field, value, __ATOMIC_RELAXED);
}

// From what the call's first operation may take its start time. From nothing if several threads may
// call MPI at once: the call may first wait for a lock, and the posting order then differs.
inline log::SharedTick::Of shared_tick_of(const UctraceCall& call) {
  static_assert(static_cast<int>(log::SharedTick::Of::nothing) == kUctracePostsNothing &&
                static_cast<int>(log::SharedTick::Of::blocking_call) == kUctracePostsAndWaits &&
                static_cast<int>(log::SharedTick::Of::nonblocking_call) == kUctracePosts);
  static_assert(kUctracePostsNothing == 0, "what is left without the bits of the mask");
  return static_cast<log::SharedTick::Of>(call.posting &
                                          may_share_ticks.load(std::memory_order_relaxed));
}

// Takes the start time, and shows the call for the analysis of a job that hangs or died.
UCTRACE_HOT inline void begin(UctraceCall& call, std::int32_t peer, std::int32_t tag) {
  describe(function_of(call));
  if (log::counts()) [[unlikely]] {
    begin_counting(function_of(call));
    if (log::counts_only()) return;
  }
  log::Lane* lane = log::lane();
  stacks::know_caller(call.caller);
  const std::uint64_t tick = call.start_tick = log::now();
  if (lane == nullptr) [[unlikely]] {
    return;
  }
  lane->begin_shared_tick(shared_tick_of(call), tick);
  log::CurrentCall& shown = lane->info->current_call;
  show(shown.caller, std::uint64_t{call.caller});
  show(shown.request, std::uint64_t{call.request});
  show(shown.start_tick, tick);
  show(shown.scope, library.handle(call.scope));
  show(shown.peer, peer);
  show(shown.tag, tag);
  constexpr std::uint32_t kTypeAndFunction = 0x03ff00ff;
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(&shown.head),
                   std::uint64_t{call.head & kTypeAndFunction}, __ATOMIC_RELEASE);
}

// The thread's call has returned.
UCTRACE_HOT inline void show_none(log::LaneInfo& lane) {
  log::publish(&lane.current_call.head, log::RecordType::unpublished, 0, 0, 0);
}

// The record of a call, filled part by part.
class CallRecord {
 public:
  // Counts the returned call and reserves its record.
  UCTRACE_HOT CallRecord(const UctraceCall& call, std::uint64_t end_tick)
      : call_(call), head_(call.head) {
    log::Lane* lane = log::lane();
    if (lane == nullptr) [[unlikely]] {
      log::count_without_lane(log::DropKind::mpi);
      return;
    }
    lane->end_shared_tick();
    log::LaneInfo& info = *lane->info;  // stores to it keep it out of registers
    log::LiveCounters& counters = lane->counters();
    ++counters.mpi_calls;
    show_none(info);
    const std::size_t words = head_ >> 8 & 0xff;
    record_ = static_cast<MpiCall*>(
        lane->reserve_bytes(log::Stream::events, log::DropKind::mpi, words * 8));
    if (record_ == nullptr) [[unlikely]] {
      return;
    }
    std::uint64_t& place = reinterpret_cast<std::uint64_t*>(record_)[words - 1];
    place = call.caller;
    if (const std::uint32_t stack = stacks::of_call(*lane); stack != 0) [[unlikely]] {
      place = stack;
      head_ ^= std::uint32_t{MpiCall::kCaller | MpiCall::kStack} << 26;
    }
    record_->start_tick = call.start_tick;
    record_->duration_ticks = end_tick - call.start_tick;
    record_->scope = library.handle(call.scope);
    next_ = reinterpret_cast<std::uint64_t*>(record_ + 1);
  }

  explicit operator bool() const { return record_ != nullptr; }

  // The parts, in the order of MpiCall. Each does nothing if the record lacks that part.
  UCTRACE_HOT void peer(std::uint16_t part, std::int32_t rank, std::int32_t tag) {
    if (has(call_, part)) {
      *next_++ = static_cast<std::uint32_t>(rank) | std::uint64_t{static_cast<std::uint32_t>(tag)}
                                                        << 32;
    }
  }
  UCTRACE_HOT void volume(std::uint16_t part, const log::MpiVolume& moved) {
    if (has(call_, part)) {
      *next_++ = moved.bytes;
      *next_++ = moved.datatype;
    }
  }
  // Call it last.
  UCTRACE_HOT void publish() {
    if (has(call_, MpiCall::kRequest)) *next_++ = request();
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(&record_->head),
                     head_ | std::uint64_t{call_.result} << 32, __ATOMIC_RELEASE);
  }

 private:
  UCTRACE_HOT std::uint64_t request() const {
    if (!call_.stores_request) return call_.request;
    return succeeded(call_) ? library.request_at(call_.request) : 0;
  }

  const UctraceCall& call_;
  MpiCall* record_ = nullptr;
  std::uint64_t* next_ = nullptr;
  std::uint32_t head_;
};

UCTRACE_HOT inline void record_call(const UctraceCall& call) {
  if (log::counts()) [[unlikely]] {
    count_call(call);
    if (log::counts_only()) return;
  }
  const std::uint64_t end_tick = log::now();
  if (CallRecord record(call, end_tick); record) {
    record.publish();
  }
}

}  // namespace uctrace::mpi

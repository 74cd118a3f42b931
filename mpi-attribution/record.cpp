// Turns measured calls into records. Nothing here asks the MPI library before the call returned
// successfully, so that a wrong argument is reported by the call itself and by nothing else.
#include <atomic>
#include <cstring>

#include "call-stacks/stacks.hpp"
#include "event-log/recorder.hpp"
#include "mpi-attribution/communicators.hpp"
#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {
namespace {

using log::MpiCall;

std::int32_t as_int(Word word) { return static_cast<std::int32_t>(word); }

// MPI_SUCCESS is 0 in every flavour.
bool succeeded(const UctraceCall& call) { return as_int(call.result) == 0; }

std::int32_t peer_of(Word word) {
  const std::int32_t rank = as_int(word);
  if (rank == library.proc_null) return MpiCall::kNull;
  if (rank == library.any_source) return MpiCall::kAny;
  return rank;
}

std::int32_t tag_of(Word word) {
  const std::int32_t tag = as_int(word);
  return tag == library.any_tag ? MpiCall::kAny : tag;
}

UCTRACE_HOT inline std::uint64_t payload_bytes(Word word, Handle datatype) {
  const std::int32_t count = as_int(word);
  if (count <= 0 || datatype == library.datatype_null) return 0;
  std::int64_t size = 0;
  if (library.ask.type_size_x(datatype, &size) != 0 || size < 0) return 0;
  return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

std::int32_t peer_of(const UctraceHalf& half) {
  return half.has_peer ? peer_of(half.peer) : MpiCall::kNone;
}
std::int32_t tag_of(const UctraceHalf& half) {
  return half.has_tag ? tag_of(half.tag) : MpiCall::kNone;
}

// Asks the library, which is allowed once the call has returned.
UCTRACE_HOT inline log::MpiVolume volume_of(const UctraceHalf& half, std::int32_t peer,
                                            const UctraceCall& call) {
  if (!half.has_payload) return {};
  const Handle datatype = library.handle(half.datatype);
  const bool moved = peer != MpiCall::kNull && succeeded(call);
  return {moved ? payload_bytes(half.count, datatype) : 0, datatype};
}

log::RecordType type_of(const UctraceCall& call) {
  return call.on_window ? log::RecordType::mpi_window_call : log::RecordType::mpi_call;
}

// Names the function at its first use.
__attribute__((noinline, cold)) void name_function(unsigned number) {
  UctraceFunction& function = uctrace_mpi_functions[number];
  if (!std::atomic_ref(function.described).exchange(true)) {
    const char* name = function.pmpi_name + 1;
    log::define_text(log::TextKind::mpi_function, number, name, std::strlen(name));
  }
}

UCTRACE_HOT inline void describe(unsigned number) {
  const std::atomic_ref described(uctrace_mpi_functions[number].described);
  if (!described.load(std::memory_order_relaxed)) [[unlikely]] {
    name_function(number);
  }
}

// A program whose MPI_Init another tool hid is noticed at its next call.
inline void notice_world(const UctraceCall& call) {
  if (!world_is_described()) [[unlikely]]
    describe_world(call.function);
}

// The helper may copy the page at the same time.
template <typename Value>
void show(Value& field, Value value) {
  __atomic_store_n(&field, value, __ATOMIC_RELAXED);
}

// What an operation that the call begins with may take its start from. Not where several threads
// call MPI at once: the call may wait for a lock first, and the order of posting is another then.
log::Moment::Of moment_of(const UctraceCall& call) {
  static_assert(static_cast<int>(log::Moment::Of::nothing) == kUctracePostsNothing &&
                static_cast<int>(log::Moment::Of::blocking_call) == kUctracePostsAndWaits &&
                static_cast<int>(log::Moment::Of::nonblocking_call) == kUctracePosts);
  return one_thread_at_a_time.load(std::memory_order_relaxed)
             ? static_cast<log::Moment::Of>(call.posting)
             : log::Moment::Of::nothing;
}

// Takes the start time, and shows the call to whoever looks at a job that hangs or died.
UCTRACE_HOT inline void begin(UctraceCall& call, std::int32_t peer, std::int32_t tag) {
  describe(call.function);
  log::Lane* lane = log::lane();
  call.start_tick = log::now();
  if (lane == nullptr) [[unlikely]] {
    return;
  }
  lane->begin_moment(moment_of(call), call.start_tick);
  log::CurrentCall& shown = lane->info->current_call;
  show(shown.start_tick, call.start_tick);
  show(shown.scope, library.handle(call.scope));
  show(shown.peer, peer);
  show(shown.tag, tag);
  log::publish(&shown, type_of(call), 0, call.function, 0);
}

struct WordsOf {
  std::uint8_t of[64];
  constexpr WordsOf() : of{} {
    for (unsigned parts = 0; parts < sizeof of; ++parts) {
      of[parts] = static_cast<std::uint8_t>(MpiCall::words_of(parts));
    }
  }
};
constexpr WordsOf kWords;

// The record of a call, which is filled part by part.
class CallRecord {
 public:
  // Counts the call, which has returned, and reserves its record.
  UCTRACE_HOT CallRecord(const UctraceCall& call, std::uint64_t end_tick) : parts_(call.parts) {
    log::Lane* lane = log::lane();
    if (lane == nullptr) [[unlikely]] {
      log::count_without_lane(log::DropKind::mpi);
      return;
    }
    lane->end_moment();
    log::publish(&lane->info->current_call, log::RecordType::unpublished, 0, 0, 0);
    ++lane->counters().mpi_calls;
    stack_ = stacks::of_mpi_call(*lane);
    if (stack_ != 0) parts_ |= MpiCall::kStack;
    record_ = static_cast<MpiCall*>(lane->reserve_bytes(log::Stream::events, log::DropKind::mpi,
                                                        std::size_t{kWords.of[parts_]} * 8));
    if (record_ == nullptr) [[unlikely]] {
      return;
    }
    record_->start_tick = call.start_tick;
    record_->duration_ticks = end_tick - call.start_tick;
    record_->scope = library.handle(call.scope);
    next_ = reinterpret_cast<std::uint64_t*>(record_ + 1);
  }

  explicit operator bool() const { return record_ != nullptr; }

  // The parts, in the order of MpiCall. Each does nothing where the record has none.
  UCTRACE_HOT void peer(std::uint16_t part, std::int32_t rank, std::int32_t tag) {
    if ((parts_ & part) != 0) {
      *next_++ = static_cast<std::uint32_t>(rank) | std::uint64_t{static_cast<std::uint32_t>(tag)}
                                                        << 32;
    }
  }
  UCTRACE_HOT void volume(std::uint16_t part, const log::MpiVolume& moved) {
    if ((parts_ & part) != 0) {
      *next_++ = moved.bytes;
      *next_++ = moved.datatype;
    }
  }
  UCTRACE_HOT void publish(const UctraceCall& call) {
    if (stack_ != 0) *next_ = stack_;
    log::publish(record_, type_of(call), kWords.of[parts_],
                 static_cast<std::uint16_t>(call.function | parts_ << MpiCall::kFunctionBits),
                 static_cast<std::uint32_t>(call.result));
  }

 private:
  MpiCall* record_ = nullptr;
  std::uint64_t* next_ = nullptr;
  unsigned parts_;
  std::uint32_t stack_ = 0;
};

UCTRACE_HOT inline void record_call(const UctraceCall& call) {
  const std::uint64_t end_tick = log::now();
  if (CallRecord record(call, end_tick); record) {
    record.publish(call);
  }
}

UCTRACE_HOT inline void record_message(const UctraceMessage& message) {
  const std::uint64_t end_tick = log::now();
  const log::MpiVolume volume = volume_of(message.half, message.peer, message.call);
  if (CallRecord record(message.call, end_tick); record) {
    record.peer(MpiCall::kPeer, message.peer, message.tag);
    record.volume(MpiCall::kVolume, volume);
    record.publish(message.call);
  }
}

void record_exchange(const UctraceExchange& exchange) {
  const std::uint64_t end_tick = log::now();
  const std::int32_t peer = peer_of(exchange.send), recv_peer = peer_of(exchange.receive);
  const log::MpiVolume sent = volume_of(exchange.send, peer, exchange.call);
  const log::MpiVolume received = volume_of(exchange.receive, recv_peer, exchange.call);
  if (CallRecord record(exchange.call, end_tick); record) {
    record.peer(MpiCall::kPeer, peer, tag_of(exchange.send));
    record.volume(MpiCall::kVolume, sent);
    record.peer(MpiCall::kReceive, recv_peer, tag_of(exchange.receive));
    record.volume(MpiCall::kReceive, received);
    record.publish(exchange.call);
  }
}

}  // namespace
}  // namespace uctrace::mpi

using namespace uctrace;
using namespace uctrace::mpi;

extern "C" {

void* uctrace_mpi_pcontrol(UctraceWord level, unsigned function, UctraceEntry entry,
                           const void* caller) {
  void* original = std::atomic_ref(uctrace_mpi_functions[function].original[entry])
                       .load(std::memory_order_acquire);
  original = original != nullptr ? original : uctrace_mpi_resolve(function, entry, caller);
  if (uctrace_mpi_recording && (entry == kUctraceMpi || uctrace_mpi_called_by_binding(caller))) {
    log::switch_recording_by_level(as_int(level));
  }
  return original;
}

void uctrace_mpi_enter(UctraceCall* call) {
  notice_world(*call);
  begin(*call, MpiCall::kNone, MpiCall::kNone);
}

void uctrace_mpi_enter_message(UctraceMessage* message) {
  notice_world(message->call);
  message->peer = peer_of(message->half);
  message->tag = tag_of(message->half);
  begin(message->call, message->peer, message->tag);
}

void uctrace_mpi_enter_exchange(UctraceExchange* exchange) {
  notice_world(exchange->call);
  begin(exchange->call, peer_of(exchange->send), tag_of(exchange->send));
}

void uctrace_mpi_enter_finalize(UctraceCall* call) {
  release_world();
  begin(*call, MpiCall::kNone, MpiCall::kNone);
}

void uctrace_mpi_enter_abort(UctraceCall* call) {
  describe(call->function);
  call->start_tick = log::now();
  record_call(*call);
  log::set_exit(log::ExitKind::aborted);
}

void uctrace_mpi_leave_call(const UctraceCall* call) { record_call(*call); }

void uctrace_mpi_leave_message(const UctraceMessage* message) { record_message(*message); }

void uctrace_mpi_leave_exchange(const UctraceExchange* exchange) { record_exchange(*exchange); }

void uctrace_mpi_leave_construction(const UctraceConstruction* construction) {
  const UctraceCall& call = construction->call;
  record_call(call);
  if (!succeeded(call)) return;
  define_communicator({.handle = library.handle_at(construction->new_communicator),
                       .parent = library.handle(call.scope),
                       .function = call.function,
                       .making = construction->making,
                       .tag = as_int(construction->tag),
                       .has_tag = construction->has_tag});
}

void uctrace_mpi_leave_release(const UctraceCall* call) {
  record_call(*call);
  if (succeeded(*call)) end_communicator(library.handle(call->scope));
}

void uctrace_mpi_leave_window_making(const UctraceWindowMaking* making) {
  record_call(making->call);
  if (!succeeded(making->call)) return;
  define_window({.handle = library.handle_at(making->new_window),
                 .communicator = library.handle(making->call.scope)});
}

void uctrace_mpi_leave_rename(const UctraceRename* rename) {
  record_call(rename->call);
  if (!succeeded(rename->call)) return;
  name_communicator(library.handle(rename->call.scope),
                    reinterpret_cast<const char*>(rename->name));
}

void uctrace_mpi_leave_init(const UctraceCall* call) {
  if (succeeded(*call)) describe_world(call->function);
  record_call(*call);
}

void uctrace_mpi_leave_finalize(const UctraceCall* call) {
  record_call(*call);
  if (succeeded(*call)) log::set_exit(log::ExitKind::finalized);
}

}  // extern "C"

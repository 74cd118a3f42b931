// Turns measured calls into records.
#include <cstring>

#include "mpi-attribution/ask_datatype.hpp"
#include "mpi-attribution/call_record.hpp"
#include "mpi-attribution/clock_sync.hpp"
#include "mpi-attribution/datatypes.hpp"
#include "mpi-attribution/tool_end.hpp"
#include "mpi-attribution/volumes.hpp"

namespace uctrace::mpi {

__attribute__((noinline, cold)) void name_function(unsigned number) {
  UctraceFunction& function = uctrace_mpi_functions[number];
  if (!std::atomic_ref(function.described).exchange(true)) {
    const char* name = function.pmpi_name + 1;
    log::define_text(log::TextKind::mpi_function, number, name, std::strlen(name));
    note_counted_function(number, name);
  }
}

namespace {

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

UCTRACE_HOT inline log::MpiVolume payload(std::int64_t count, Handle datatype,
                                          const UctraceCall& call) {
  if (count <= 0 || datatype == library.datatype_null) return {};
  know_datatype(datatype, call.start_tick);
  const std::int64_t size = element_bytes(datatype);
  if (size < 0) return {};
  return {static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size), datatype};
}

std::int32_t peer_of(const UctraceCall& call, const UctraceHalf& half) {
  return has(call, MpiCall::kPeer) ? peer_of(half.peer) : MpiCall::kNone;
}
std::int32_t tag_of(const UctraceCall& call, const UctraceHalf& half) {
  return call.has_tag ? tag_of(half.tag) : MpiCall::kNone;
}

// Asks the library: only after the call has returned.
UCTRACE_HOT inline log::MpiVolume half_volume(const UctraceHalf& half, std::int32_t peer,
                                              const UctraceCall& call) {
  const bool moved = has(call, MpiCall::kVolume) && peer != MpiCall::kNull && succeeded(call);
  return moved ? payload(count_of(half.count, call), library.handle(half.datatype), call)
               : log::MpiVolume{};
}

UCTRACE_HOT inline void record_message(const UctraceMessage& message) {
  if (log::counts()) [[unlikely]] {
    count_message(message, message.peer);
    if (log::counts_only()) return;
  }
  const std::uint64_t end_tick = log::now();
  const log::MpiVolume volume = half_volume(message.half, message.peer, message.call);
  if (CallRecord record(message.call, end_tick); record) {
    record.peer(MpiCall::kPeer, message.peer, message.tag);
    record.volume(MpiCall::kVolume, volume);
    record.publish();
  }
}

void record_exchange(const UctraceExchange& exchange) {
  if (log::counts()) [[unlikely]] {
    count_exchange(exchange, peer_of(exchange.call, exchange.send));
    if (log::counts_only()) return;
  }
  const std::uint64_t end_tick = log::now();
  const std::int32_t peer = peer_of(exchange.call, exchange.send),
                     recv_peer = peer_of(exchange.call, exchange.receive);
  const log::MpiVolume sent = half_volume(exchange.send, peer, exchange.call);
  const log::MpiVolume received = half_volume(exchange.receive, recv_peer, exchange.call);
  if (CallRecord record(exchange.call, end_tick); record) {
    record.peer(MpiCall::kPeer, peer, tag_of(exchange.call, exchange.send));
    record.volume(MpiCall::kVolume, sent);
    record.peer(MpiCall::kReceive, recv_peer, tag_of(exchange.call, exchange.receive));
    record.volume(MpiCall::kReceive, received);
    record.publish();
  }
}

std::int32_t root_of(Word word) {
  const std::int32_t root = as_int(word);
  if (root == library.root) return MpiCall::kRoot;
  return root == library.proc_null ? MpiCall::kNull : root;
}

// If a side moves nothing, its datatype is not looked at: it may be invalid.
log::MpiVolume moved(std::uint64_t bytes, const UctraceSide& side, const UctraceSide& other,
                     const UctraceCall& call) {
  const bool stands_for_it = side.buffer == library.in_place || side.datatype == 0;
  const Handle datatype = library.handle(stands_for_it ? other.datatype : side.datatype);
  if (bytes == 0 || datatype == 0) return {bytes, 0};
  know_datatype(datatype, call.start_tick);
  return {bytes, datatype};
}

void record_collective(const UctraceCollective& collective) {
  if (log::counts()) [[unlikely]] {
    count_collective(collective);
    if (log::counts_only()) return;
  }
  const std::uint64_t end_tick = log::now();
  const Volume volume = succeeded(collective.call) ? volume_of(collective) : Volume{0, 0};
  const UctraceSide &send = collective.send, &receive = collective.receive;
  const log::MpiVolume sent = moved(volume.bytes, send, receive, collective.call);
  const log::MpiVolume received = moved(volume.recv_bytes, receive, send, collective.call);
  if (CallRecord record(collective.call, end_tick); record) {
    record.peer(MpiCall::kPeer, root_of(collective.root), MpiCall::kNone);
    record.volume(MpiCall::kVolume, sent);
    record.peer(MpiCall::kReceive, MpiCall::kNone, MpiCall::kNone);
    record.volume(MpiCall::kReceive, received);
    record.publish();
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
  message->peer = peer_of(message->call, message->half);
  message->tag = tag_of(message->call, message->half);
  begin(message->call, message->peer, message->tag);
}

void uctrace_mpi_enter_exchange(UctraceExchange* exchange) {
  notice_world(exchange->call);
  begin(exchange->call, peer_of(exchange->call, exchange->send),
        tag_of(exchange->call, exchange->send));
}

void uctrace_mpi_enter_finalize(UctraceCall* call) {
  write_last_profile();
  measure_clocks_at_end();
  release_world();
  begin(*call, MpiCall::kNone, MpiCall::kNone);
}

void uctrace_mpi_enter_session_finalize(UctraceSession* session) {
  session->is_last = !close_session(library.handle_at(session->session));
  begin(session->call, MpiCall::kNone, MpiCall::kNone);
}

void uctrace_mpi_enter_abort(UctraceCall* call) {
  describe(function_of(*call));
  stacks::know_caller(call->caller);
  call->start_tick = log::now();
  record_call(*call);
  log::set_exit(log::ExitKind::aborted);
}

void uctrace_mpi_enter_type_release(UctraceCall* call) {
  forget_datatype(library.handle(call->scope));
}

void uctrace_mpi_leave_call(const UctraceCall* call) { record_call(*call); }

void uctrace_mpi_leave_message(const UctraceMessage* message) { record_message(*message); }

void uctrace_mpi_leave_probe(const UctraceProbe* probe) {
  UctraceMessage message = probe->message;
  const auto* found = reinterpret_cast<const int*>(probe->flag);
  if (succeeded(message.call) && (found == nullptr || *found == 0)) {
    message.call.request = 0;  // the call stored none
  }
  record_message(message);
}

void uctrace_mpi_leave_exchange(const UctraceExchange* exchange) { record_exchange(*exchange); }

void uctrace_mpi_leave_collective(const UctraceCollective* collective) {
  record_collective(*collective);
}

void uctrace_mpi_leave_construction(const UctraceConstruction* construction) {
  const UctraceCall& call = construction->call;
  record_call(call);
  if (!succeeded(call)) return;
  define_communicator({.handle = library.handle_at(construction->new_communicator),
                       .parent = library.handle(call.scope),
                       .function = function_of(call),
                       .making = construction->making,
                       .tag = static_cast<std::uint32_t>(construction->tag),
                       .tag_text = reinterpret_cast<const char*>(construction->tag_text),
                       .has_tag = construction->has_tag});
}

void uctrace_mpi_leave_release(const UctraceCall* call) {
  record_call(*call);
  if (succeeded(*call)) end_communicator(library.handle(call->scope));
}

void uctrace_mpi_leave_window_making(const UctraceMade* made) {
  record_call(made->call);
  if (!succeeded(made->call)) return;
  define_handle({.type = log::RecordType::window,
                 .handle = library.handle_at(made->made),
                 .communicator = library.handle(made->call.scope)});
}

void uctrace_mpi_leave_window_release(const UctraceCall* call) {
  record_call(*call);
  if (succeeded(*call)) end_handle(log::RecordType::window_free, library.handle(call->scope));
}

void uctrace_mpi_leave_file_making(const UctraceMade* made) {
  record_call(made->call);
  if (!succeeded(made->call)) return;
  define_handle({.type = log::RecordType::file,
                 .handle = library.handle_at(made->made),
                 .communicator = library.handle(made->call.scope)});
}

void uctrace_mpi_leave_file_release(const UctraceCall* call) {
  record_call(*call);
  if (succeeded(*call)) end_handle(log::RecordType::file_close, library.handle(call->scope));
}

void uctrace_mpi_leave_rename(const UctraceRename* rename) {
  record_call(rename->call);
  if (!succeeded(rename->call)) return;
  name_communicator(library.handle(rename->call.scope),
                    reinterpret_cast<const char*>(rename->name));
}

void uctrace_mpi_leave_init(const UctraceCall* call) {
  if (succeeded(*call)) describe_world(function_of(*call));
  record_call(*call);
  if (succeeded(*call)) measure_clocks_at_start();
}

void uctrace_mpi_leave_finalize(const UctraceCall* call) {
  record_call(*call);
  if (succeeded(*call)) log::set_exit(log::ExitKind::finalized);
}

void uctrace_mpi_leave_session_making(const UctraceMade* made) {
  if (succeeded(made->call)) open_session(library.handle_at(made->made));
  record_call(made->call);
}

void uctrace_mpi_leave_session_finalize(const UctraceSession* session) {
  record_call(session->call);
  if (succeeded(session->call) && session->is_last &&
      world_by.load(std::memory_order_relaxed) == WorldBy::nothing) {
    log::set_exit(log::ExitKind::finalized);
  }
}

}  // extern "C"

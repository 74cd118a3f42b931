// For calls that take several requests, records these and those that ended (log::MpiRequests).
#include <algorithm>
#include <cstring>

#include "mpi-attribution/call_lists.hpp"
#include "mpi-attribution/call_record.hpp"

namespace uctrace::mpi {
namespace {

int int_at(Word address) {
  int value = 0;
  if (address != 0) std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

std::size_t count_of(const UctraceRequests& requests) {
  const std::int32_t count = as_int(requests.count);
  return requests.requests == 0 || count < 0 ? 0 : static_cast<std::size_t>(count);
}

std::size_t kept_of(const UctraceRequests& requests) {
  return std::min(count_of(requests), static_cast<std::size_t>(kUctraceKept));
}

Handle handle_now(const UctraceRequests& requests, std::size_t position) {
  return library.request_at(requests.requests, position);
}

void record_kept(const UctraceRequests& requests) {
  if (requests.kept == nullptr) return;  // recorded at entry
  record_handles(requests.call.start_tick, kept_of(requests),
                 [&](std::size_t i) { return requests.kept[i]; });
}

// --- what a call ended ---------------------------------------------------------------------------

// A successful call tells which requests ended.
void record_success(const UctraceRequests& requests) {
  const std::size_t count = count_of(requests);
  if (requests.flag != 0 && int_at(requests.flag) == 0) return;
  if (requests.ending == kUctraceAllEnd) {
    record_kept(requests);
    return;
  }
  const bool one = requests.ending == kUctraceOneEnds;
  const int ended = one ? 1 : int_at(requests.ended_count);
  const Word positions = one ? requests.index : requests.ended;
  // MPI_UNDEFINED, which is negative, as position or count: there was nothing to wait for.
  if (ended <= 0 || static_cast<std::size_t>(ended) > count || int_at(positions) < 0) return;
  record_kept(requests);
  record_numbers(requests.call.start_tick, MpiRequests::kCompleted, static_cast<std::size_t>(ended),
                 [&](std::size_t i) {
                   return static_cast<std::uint32_t>(int_at(positions + i * sizeof(int)));
                 });
}

// A failed call may have ended some: those whose handle it cleared.
void record_failure(const UctraceRequests& requests) {
  const std::size_t count = requests.kept != nullptr ? kept_of(requests) : count_of(requests);
  const auto is_cleared = [&](std::size_t i) {
    return handle_now(requests, i) == 0 && (requests.kept == nullptr || requests.kept[i] != 0);
  };
  std::size_t ended = 0;
  for (std::size_t i = 0; i < count; ++i) ended += is_cleared(i);
  if (ended == 0) return;
  record_kept(requests);
  std::uint32_t next = 0;
  record_numbers(requests.call.start_tick, MpiRequests::kCompleted, ended, [&](std::size_t) {
    while (!is_cleared(next)) ++next;
    return next++;
  });
}

// The first request that was passed to a testing call.
Handle first_kept(const UctraceRequests& requests) {
  const std::size_t count = kept_of(requests);
  for (std::size_t i = 0; i < count; ++i) {
    if (requests.kept[i] != 0) return requests.kept[i];
  }
  return 0;
}

}  // namespace
}  // namespace uctrace::mpi

using namespace uctrace::mpi;

extern "C" void uctrace_mpi_enter_requests(UctraceRequests* requests) {
  notice_world(requests->call);
  begin(requests->call, MpiCall::kNone, MpiCall::kNone);
  if (uctrace::log::counts_only()) return;
  if (requests->kept == nullptr) {
    record_handles(requests->call.start_tick, count_of(*requests),
                   [&](std::size_t i) { return handle_now(*requests, i); });
    return;
  }
  const std::size_t count = kept_of(*requests);
  for (std::size_t i = 0; i < count; ++i) requests->kept[i] = handle_now(*requests, i);
}

extern "C" void uctrace_mpi_leave_requests(const UctraceRequests* requests) {
  if (uctrace::log::counts()) [[unlikely]] {
    count_started(*requests);
    if (uctrace::log::counts_only()) return;
  }
  const std::uint64_t end_tick = uctrace::log::now();
  UctraceCall call = requests->call;
  if (requests->kept != nullptr) call.request = first_kept(*requests);
  if (requests->ending != kUctraceStarted &&
      call.result != static_cast<Word>(kUctraceNotReturned)) {
    succeeded(call) ? record_success(*requests) : record_failure(*requests);
  }
  if (CallRecord record(call, end_tick); record) record.publish();
}

extern "C" void uctrace_mpi_enter_probed_receive(UctraceProbedReceive* receive) {
  uctrace_mpi_enter_message(&receive->message);
  if (uctrace::log::counts_only()) return;
  const Handle probed = library.request_at(receive->probed);
  record_handles(receive->message.call.start_tick, 1, [&](std::size_t) { return probed; });
}

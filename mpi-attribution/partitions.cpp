// Records calls about the partitions of a request, and answers whether a request is complete.
#include <cstring>

#include "mpi-attribution/call_lists.hpp"
#include "mpi-attribution/call_record.hpp"

namespace uctrace::mpi {
namespace {

// The answer of a call that asks.
std::int32_t answer_of(const UctraceTest& test) {
  int answer = 0;
  if (succeeded(test.call) && test.flag != 0) {
    std::memcpy(&answer, reinterpret_cast<const void*>(test.flag), sizeof answer);
  }
  return answer != 0;
}

// Counts the call. True: nothing else is wanted.
bool counted(const UctraceCall& call) {
  if (!log::counts()) return false;
  count_call(call);
  return log::counts_only();
}

void record_numbers_of(const UctraceCall& call, std::uint64_t end_tick, std::int32_t first,
                       std::int32_t second) {
  if (CallRecord record(call, end_tick); record) {
    record.peer(MpiCall::kPeer, first, second);
    record.publish();
  }
}

// Counts a poll instead of recording it: a polling loop would fill the log. False: the call must be
// recorded, because it made progress whose records belong to it.
bool only_counted(const UctraceCall& call, std::uint64_t end_tick) {
  log::Lane* lane = log::lane();
  if (lane == nullptr || library.records_polls || !succeeded(call) ||
      lane->cursors[0].position != lane->shared_tick.position) {
    return false;
  }
  lane->end_shared_tick();
  show_none(*lane->info);
  ++lane->counters().mpi_polls;
  lane->counters().mpi_poll_ticks += end_tick - call.start_tick;
  return true;
}

}  // namespace
}  // namespace uctrace::mpi

using namespace uctrace;
using namespace uctrace::mpi;

extern "C" {

void uctrace_mpi_leave_partitioned(const UctracePartitioned* made) {
  const UctraceCall& call = made->message.call;
  if (succeeded(call) && !log::counts_only()) {
    record_numbers(call.start_tick, MpiRequests::kPartitions, 1,
                   [&](std::size_t) { return as_int(made->partitions); });
  }
  uctrace_mpi_leave_message(&made->message);
}

void uctrace_mpi_leave_ready(const UctraceReady* ready) {
  if (counted(ready->call)) return;
  record_numbers_of(ready->call, log::now(), as_int(ready->first), as_int(ready->last));
}

// The program may not change the list yet: for the program the call has not returned.
void uctrace_mpi_leave_ready_list(const UctraceReadyList* ready) {
  if (counted(ready->call)) return;
  const std::uint64_t end_tick = log::now();
  const std::int32_t count = as_int(ready->count);
  if (succeeded(ready->call) && count > 0 && ready->list != 0) {
    const auto* list = reinterpret_cast<const int*>(ready->list);
    record_numbers(ready->call.start_tick, MpiRequests::kPartitions,
                   static_cast<std::size_t>(count), [&](std::size_t i) { return list[i]; });
  }
  if (CallRecord record(ready->call, end_tick); record) record.publish();
}

void uctrace_mpi_leave_test(const UctraceTest* test) {
  if (counted(test->call)) return;
  record_numbers_of(test->call, log::now(), MpiCall::kNone, answer_of(*test));
}

void uctrace_mpi_leave_arrived(const UctraceTest* test) {
  if (counted(test->call)) return;
  const std::uint64_t end_tick = log::now();
  const std::int32_t answer = answer_of(*test);
  if (answer == 0 && only_counted(test->call, end_tick)) return;
  record_numbers_of(test->call, end_tick, as_int(test->partition), answer);
}

}  // extern "C"

#include "log-merger/library/library_calls.hpp"

#include <algorithm>
#include <tuple>

#include "log-merger/job/call_finder.hpp"
#include "log-merger/library/collectives.hpp"

namespace uctrace::merge {

namespace {

bool is_before(const LibraryCall& a, const LibraryCall& b) {
  return std::tie(a.lane, a.start_tick) < std::tie(b.lane, b.start_tick);
}

// The outermost calls of a thread do not overlap.
LibraryCallIndex call_around(const LibraryCalls& of, std::uint16_t lane, std::uint64_t tick) {
  LibraryCall at;
  at.lane = lane;
  at.start_tick = tick;
  const auto later = std::upper_bound(of.calls.begin(), of.calls.end(), at, is_before);
  if (later == of.calls.begin()) return kNone;
  const auto call = later - 1;
  return call->lane == lane && tick <= call->end_tick ? LibraryCallIndex(call - of.calls.begin())
                                                      : LibraryCallIndex{};
}

// As a column has it: -1 = not known.
std::int64_t asked_bytes(const LibraryCalls& of, const LibraryCall& call) {
  const LibraryCall& told = of.beginning_of(call);
  if (call.ucc == UccCall::starts) {
    if (call.status < 0) return 0;
    return told.operation && told.knows_bytes ? static_cast<std::int64_t>(told.bytes) : -1;
  }
  return told.operation ? 0 : static_cast<std::int64_t>(told.bytes);
}

LibraryCallRow row_of(const ProcessLog& log, const LibraryCall& call) {
  LibraryCallRow row;
  row.lane = call.lane;
  row.library = log.library_calls.library_of(call);
  row.function = log.library_calls.function_of(call);
  // What starts or ends a collective operation says nothing of it but its request.
  const LibraryCall& told = log.library_calls.beginning_of(call);
  row.peer = told.peer;
  row.status = call.status;
  row.bytes = asked_bytes(log.library_calls, call);
  row.scope = told.scope;
  row.request = call.request;
  row.operations = call.operations;
  row.operation_bytes = call.operation_bytes;
  row.inferred_operations = call.inferred_operations;
  row.inferred_bytes = call.inferred_bytes;
  const auto stack = log.stack_rows.find(call.stack);
  row.stack = stack != log.stack_rows.end() ? stack->second.number() : -1;
  row.collective = told.collective;
  row.layers = told.layers;
  row.algorithm = told.algorithm;
  row.t_start_ns = log.clock.job_ns(call.start_tick);
  row.t_end_ns = log.clock.job_ns(call.end_tick);
  return row;
}

}  // namespace

void link_library_calls(Job& job) {
  job.workers.each(job.logs.size(), [&](std::size_t process) {
    ProcessLog& log = job.logs[ProcessIndex(process)];
    LibraryCalls& of = log.library_calls;
    std::stable_sort(of.calls.begin(), of.calls.end(), is_before);
    if (of.calls.empty()) return;
    find_beginnings(job, log);
    for (std::size_t i = log.ucp_rows.begin; i < log.ucp_rows.end; ++i) {
      UcpOp& op = job.ucp[i];
      // What a handler does, it does for whoever sent the message.
      if (op.tool || op.is(log::UcpFamily::am_receive) || op.arrival != 0) continue;
      op.library_call = call_around(of, op.lane, op.start_tick);
      if (op.library_call == kNone) continue;
      LibraryCall& call = of.calls[op.library_call.place()];
      ++call.operations;
      if (op.starts_message()) call.operation_bytes += op.bytes;
    }
    infer_collectives(job, log);
  });
}

void add_library_calls(Job& job) {
  CallFinder mpi(job);
  for (const ProcessIndex process : job.logs.indexes()) {
    ProcessLog& log = job.logs[process];
    log.library_calls.first_row = job.run.library_calls.size();
    for (const LibraryCall& call : log.library_calls.calls) {
      LibraryCallRow row = row_of(log, call);
      row.process = static_cast<std::uint32_t>(process.number());
      row.call = mpi.around(process, call.lane, call.start_tick).number();
      job.run.library_calls.push_back(row);
    }
  }
}

}  // namespace uctrace::merge

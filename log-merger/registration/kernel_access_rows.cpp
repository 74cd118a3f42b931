// What kernels on GPUs may use by themselves.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "event-log/format/ucp_names.hpp"
#include "log-merger/memory/memory.hpp"
#include "log-merger/model/kernel_access_totals.hpp"
#include "log-merger/registration/registration.hpp"

namespace uctrace::merge {

namespace {

class AccessesOfProcess {
 public:
  AccessesOfProcess(Job& job, ProcessIndex process)
      : job_(job), process_(process), log_(job.logs[process]) {
    for (const MemoryCall& call : log_.memory_calls.calls) {
      if (call.action() == log::MemoryAction::kernel_release) {
        releases_.emplace(call.key, call.start_tick);
      }
    }
  }

  void add() {
    for (const log::KernelAccess& access : log_.memory_calls.kernel_accesses) {
      job_.run.kernel_accesses.push_back(row_of(access));
    }
  }

 private:
  KernelAccessRow row_of(const log::KernelAccess& access) {
    KernelAccessRow row;
    row.process = static_cast<std::uint32_t>(process_.number());
    row.function = job_.run.texts.intern(log::kMemoryFunctionNames[access.head.a]);
    const auto function = static_cast<log::MemoryFunction>(access.head.a);
    if (log::action_of(function) == log::MemoryAction::kernel_endpoint) {
      add_endpoint(access, row);
    } else if (const auto at = row_at(log_.ucp_endpoints, access.endpoint, access.tick);
               at != kNone) {
      row.peer_process = log_.ucp_endpoints[at].peer.process.number();
    }
    if (access.local != 0) {
      const MemoryPlace place = memory_place(log_, access.head.b, access.tick);
      row.memory = place.kind;
      row.gpu = place.gpu;
    }
    row.local_address = access.local;
    row.remote_address = access.remote;
    row.bytes = access.bytes;
    row.t_ns = log_.clock.job_ns(access.tick);
    row.t_until_ns = end_of(access);
    return row;
  }

  void add_endpoint(const log::KernelAccess& access, KernelAccessRow& row) const {
    const auto at = row_at(log_.endpoints, access.endpoint, access.tick);
    if (at == kNone) return;
    const Endpoint& endpoint = log_.endpoints[at];
    row.peer_process = endpoint.peer_process.number();
    if (const Interface* interface = log_.interface(endpoint.interface)) {
      row.transport = interface->transport;
      row.device = interface->device;
    }
  }

  // The first release of the handle that is later.
  std::int64_t end_of(const log::KernelAccess& access) const {
    const auto [first, last] = releases_.equal_range(access.handle);
    std::uint64_t tick = UINT64_MAX;
    for (auto at = first; at != last; ++at) {
      if (at->second >= access.tick) tick = std::min(tick, at->second);
    }
    return tick == UINT64_MAX ? -1 : log_.clock.job_ns(tick);
  }

  Job& job_;
  ProcessIndex process_;
  ProcessLog& log_;
  std::multimap<std::uint64_t, std::uint64_t> releases_;  // tick by handle
};

}  // namespace

void add_kernel_accesses(Job& job) {
  for (const ProcessIndex process : job.logs.indexes()) AccessesOfProcess(job, process).add();
  const std::vector<KernelAccessRow>& rows = job.run.kernel_accesses;
  if (rows.empty()) return;
  const KernelAccessTotals totals = totals_of(rows);
  job.run.notes.push_back(
      fmt::format("kernels on GPUs may move data by themselves, over {} endpoints and with {} "
                  "buffers of {} bytes "
                  "in all: what they move is not seen, and in no total here",
                  totals.endpoints, totals.buffers, totals.bytes));
}

}  // namespace uctrace::merge

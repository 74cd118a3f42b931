// What GPU kernels may use directly.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

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
        releases_[call.key].push_back(call.start_tick);
      }
    }
    for (auto& [handle, ticks] : releases_) std::sort(ticks.begin(), ticks.end());
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

  // The first later release of the handle.
  std::int64_t end_of(const log::KernelAccess& access) const {
    const auto ticks = releases_.find(access.handle);
    if (ticks == releases_.end()) return -1;
    const auto at = std::lower_bound(ticks->second.begin(), ticks->second.end(), access.tick);
    return at == ticks->second.end() ? -1 : log_.clock.job_ns(*at);
  }

  Job& job_;
  ProcessIndex process_;
  ProcessLog& log_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> releases_;  // ticks by handle
};

}  // namespace

void add_kernel_accesses(Job& job) {
  for (const ProcessIndex process : job.logs.indexes()) AccessesOfProcess(job, process).add();
  if (job.run.kernel_accesses.empty()) return;
  const KernelAccessTotals totals = totals_of(job.run);
  job.run.notes.push_back(
      fmt::format("kernels on GPUs may move data by themselves: an endpoint was given to them {} "
                  "times, a buffer {} times ({} bytes in all); what they move is not seen, and in "
                  "no total here",
                  totals.endpoints, totals.buffers, totals.bytes));
}

}  // namespace uctrace::merge

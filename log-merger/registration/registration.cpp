#include "log-merger/registration/registration.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log-merger/registration/call_rules.hpp"
#include "log-merger/registration/inherited.hpp"

namespace uctrace::merge {

namespace {

class ProcessCalls {
 public:
  ProcessCalls(Job& job, ProcessIndex process)
      : job_(job), log_(job.logs[process]), calls_(log_.memory_calls.calls) {}

  // Returns the deregistrations that end no registration of this process, valid as long as its
  // calls.
  std::vector<const MemoryCall*> link() {
    if (calls_.empty()) return {};
    sort_names();
    name_domains();
    find_inner_calls(calls_);
    PairedEnds paired = pair_ends(calls_);
    log_.memory_calls.ends = paired.ends;
    log_.memory_calls.matched_ends = paired.matched();
    find_first_uses(calls_);
    find_operations();
    return std::move(paired.unmatched);
  }

 private:
  // They come by lane, and a name may be recorded repeatedly.
  void sort_names() {
    for (auto& [handle, names] : log_.memory_calls.domains) {
      std::stable_sort(names.begin(), names.end(),
                       [](const DomainName& a, const DomainName& b) { return a.tick < b.tick; });
      const auto is_same = [](const DomainName& a, const DomainName& b) {
        return a.name == b.name;
      };
      names.erase(std::unique(names.begin(), names.end(), is_same), names.end());
    }
  }

  void name_domains() {
    for (MemoryCall& call : calls_) {
      const auto names = log_.memory_calls.domains.find(call.domain);
      if (names == log_.memory_calls.domains.end()) continue;
      // The name is recorded before the end of the domain's call; the log's first name also holds
      // for calls of other threads meanwhile.
      auto after = std::upper_bound(
          names->second.begin(), names->second.end(), call.end_tick,
          [](std::uint64_t tick, const DomainName& one) { return tick < one.tick; });
      if (after != names->second.begin()) --after;
      call.domain_name = after->name;
    }
  }

  // Made in the call of an operation, or later on its behalf; or for an arrival, like transfers
  // with a known operation.
  void find_operations() {
    const std::unordered_map<log::Id, UcpIndex> by_arrival = operations_of_arrivals();
    for (MemoryCall& call : calls_) {
      if (call.route == log::Route::blocking) continue;  // its progress may serve any operation
      if (call.origin_kind == log::Origin::ucp) {
        if (const auto at = log_.ucp_by_id.find(call.origin); at != log_.ucp_by_id.end()) {
          tie(call, at->second, Link::exact);
        }
      } else if (call.origin_kind == log::Origin::arrival) {
        if (const auto at = by_arrival.find(call.origin); at != by_arrival.end()) {
          tie(call, at->second, Link::inferred);
        }
      }
    }
  }

  // Calls of the program in the callback of an operation's end are not for this operation.
  void tie(MemoryCall& call, UcpIndex operation, Link link) const {
    const UcpOp& op = job_.ucp[operation];
    const bool is_over =
        op.ended && op.end_ns >= 0 && op.end_ns < log_.clock.job_ns(call.start_tick);
    if (is_over) return;
    call.serves = operation;
    call.link = link;
  }

  std::unordered_map<log::Id, UcpIndex> operations_of_arrivals() const {
    std::unordered_map<log::Id, UcpIndex> operations;
    for (const MemoryCall& call : calls_) {
      if (call.origin_kind == log::Origin::arrival) operations.emplace(call.origin, kNone);
    }
    if (operations.empty()) return operations;
    for (std::size_t i = log_.uct_rows.begin; i < log_.uct_rows.end; ++i) {
      const UctOp& op = job_.uct[i];
      if (op.origin_kind != log::Origin::arrival || op.serves == kNone) continue;
      const auto at = operations.find(op.origin);
      if (at != operations.end() && at->second == kNone) at->second = op.serves;
    }
    std::erase_if(operations, [](const auto& one) { return one.second == kNone; });
    return operations;
  }

  Job& job_;
  ProcessLog& log_;
  std::vector<MemoryCall>& calls_;
};

// The processes of a job by what names them for their children: boot, pid namespace, pid. A pid may
// come again.
using ByPid =
    std::multimap<std::tuple<std::string_view, std::uint64_t, std::uint32_t>, const ProcessLog*>;

ByPid by_pid(const Job& job) {
  ByPid processes;
  for (const ProcessLog& log : job.logs) {
    const log::ProcessPage& page = log.file.page();
    processes.emplace(std::tuple(log.file.boot_id(), page.pid_namespace, page.pid), &log);
  }
  return processes;
}

// A fork child may deregister what its parent registered.
void count_ends_of_parents(const ByPid& processes, ProcessLog& child,
                           const std::vector<const MemoryCall*>& ends) {
  const log::ProcessPage& page = child.file.page();
  const auto [first, last] =
      processes.equal_range({child.file.boot_id(), page.pid_namespace, page.parent_pid});
  std::size_t most = 0;
  for (auto at = first; at != last; ++at) {
    most = std::max(most, count_inherited(at->second->memory_calls.calls, ends));
  }
  child.memory_calls.matched_ends += most;
}

}  // namespace

void link_memory_calls(Job& job) {
  std::vector<std::vector<const MemoryCall*>> unmatched(job.logs.size());
  job.workers.each(job.logs.size(), [&](std::size_t i) {
    unmatched[i] = ProcessCalls(job, ProcessIndex(i)).link();
  });
  const auto has_some = [](const auto& ends) { return !ends.empty(); };
  if (std::none_of(unmatched.begin(), unmatched.end(), has_some)) return;
  const ByPid processes = by_pid(job);
  for (const ProcessIndex child : job.logs.indexes()) {
    const auto& ends = unmatched[child.place()];
    if (!ends.empty()) count_ends_of_parents(processes, job.logs[child], ends);
  }
}

}  // namespace uctrace::merge

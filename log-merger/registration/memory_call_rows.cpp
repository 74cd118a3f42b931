// The rows of registration calls.
#include <algorithm>
#include <set>
#include <span>
#include <tuple>

#include "event-log/format/ucp_names.hpp"
#include "log-merger/job/call_finder.hpp"
#include "log-merger/memory/memory.hpp"
#include "log-merger/model/durations.hpp"
#include "log-merger/model/ucs_names.hpp"
#include "log-merger/registration/registration.hpp"

namespace uctrace::merge {

namespace {

class RowsOfProcess {
 public:
  RowsOfProcess(Job& job, ProcessIndex process)
      : job_(job), process_(process), log_(job.logs[process]), calls_(job) {}

  void add() {
    for (const MemoryCall& call : log_.memory_calls.calls) {
      job_.run.memory_calls.push_back(row_of(call));
    }
    add_uses();
  }

 private:
  TextId text(std::string_view value) { return job_.run.texts.intern(value); }

  TextId function_of(CallIndex call) const {
    return call == kNone ? kNoText : job_.calls[call].function;
  }

  MemoryCallRow row_of(const MemoryCall& call) {
    MemoryCallRow row;
    row.process = static_cast<std::uint32_t>(process_.number());
    row.lane = call.lane;
    row.action = static_cast<MemoryCallAction>(call.action());
    row.link = call.link;
    if (call.address != 0) {
      const MemoryPlace place = memory_place(log_, call.memory, call.start_tick);
      row.memory = place.kind;
      row.gpu = place.gpu;
    }
    row.outermost = call.outermost;
    row.repeats = call.repeats;
    row.first_use = call.first_use;
    row.function = text(log::kMemoryFunctionNames[static_cast<std::size_t>(call.function)]);
    row.memory_domain = call.domain_name;
    row.status = text(ucs_status_name(call.status));
    if (call.serves != kNone) {
      const UcpOp& op = job_.ucp[call.serves];
      row.asked_by = function_of(op.asked_by);
      row.message = op.message.number();
    }
    row.call = calls_.around(process_, call.lane, call.start_tick).number();
    row.address = call.address;
    row.bytes = call.bytes;
    row.key = call.key;
    row.t_start_ns = log_.clock.job_ns(call.start_tick);
    row.t_end_ns = log_.clock.job_ns(call.end_tick);
    row.t_until_ns = call.until_tick == UINT64_MAX ? -1 : log_.clock.job_ns(call.until_tick);
    return row;
  }

  // --- what operations found registered

  using OperationInDomain = std::pair<UcpIndex, TextId>;

  static bool takes_registered_memory(const UctOp& op) {
    switch (op.op) {
      case log::UctOp::put_zcopy:
      case log::UctOp::get_zcopy:
      case log::UctOp::am_zcopy:
      case log::UctOp::tag_eager_zcopy:
      case log::UctOp::tag_rndv_zcopy:
        return op.status >= 0 && op.serves != kNone && !op.staging;
      default:
        return false;
    }
  }

  RegistrationUse& use_in(std::vector<RegistrationUse>& uses, TextId domain) {
    for (RegistrationUse& use : uses) {
      if (use.memory_domain == domain) return use;
    }
    return uses.emplace_back(
        RegistrationUse{static_cast<std::uint32_t>(process_.number()), domain, 0, 0, 0, 0});
  }

  // Only for domains with registrations: others need none.
  void add_uses() {
    std::vector<RegistrationUse> uses;
    std::set<OperationInDomain> registered;
    for (const MemoryCall& call : log_.memory_calls.calls) {
      if (!call.begins()) continue;
      RegistrationUse& use = use_in(uses, call.domain_name);
      if (call.serves != kNone) registered.emplace(call.serves, call.domain_name);
      if (call.until_tick != UINT64_MAX) continue;
      ++use.live;
      use.live_bytes += call.bytes;
    }
    if (uses.empty()) return;
    std::set<OperationInDomain> seen;
    for (std::size_t i = log_.uct_rows.begin; i < log_.uct_rows.end; ++i) {
      const UctOp& op = job_.uct[i];
      const Interface* interface = log_.interface(op.interface);
      if (!takes_registered_memory(op) || interface == nullptr) continue;
      const OperationInDomain one{op.serves, interface->memory_domain};
      const auto is_of = [&](const RegistrationUse& use) {
        return use.memory_domain == one.second;
      };
      const auto use = std::find_if(uses.begin(), uses.end(), is_of);
      if (use == uses.end() || !seen.insert(one).second) continue;
      ++use->operations;
      use->registered += registered.contains(one);
    }
    job_.run.registration_uses.insert(job_.run.registration_uses.end(), uses.begin(), uses.end());
  }

  Job& job_;
  ProcessIndex process_;
  ProcessLog& log_;
  CallFinder calls_;
};

// The calls for one message are adjacent.
std::span<const MemoryCallRow> calls_of(const Run& run, std::int64_t message) {
  const auto first = std::lower_bound(
      run.memory_calls.begin(), run.memory_calls.end(), message,
      [](const MemoryCallRow& call, std::int64_t wanted) { return call.message < wanted; });
  const auto end = std::find_if(first, run.memory_calls.end(),
                                [&](const MemoryCallRow& call) { return call.message != message; });
  return {first, end};
}

}  // namespace

void add_memory_calls(Job& job) {
  Run& run = job.run;
  for (const ProcessIndex process : job.logs.indexes()) RowsOfProcess(job, process).add();
  std::stable_sort(run.memory_calls.begin(), run.memory_calls.end(),
                   [](const MemoryCallRow& a, const MemoryCallRow& b) {
                     return std::tie(a.message, a.process, a.t_start_ns) <
                            std::tie(b.message, b.process, b.t_start_ns);
                   });
  for (const MemoryCallRow& call : run.memory_calls) {
    if (call.message < 0 || !call.outermost) continue;
    add_ns(run.messages[static_cast<std::size_t>(call.message)].registration_ns,
           duration_ns(call.t_start_ns, call.t_end_ns));
  }
}

void add_registration_to_waits(Job& job) {
  if (job.run.memory_calls.empty()) return;
  for (Wait& wait : job.run.waits) {
    if (wait.message < 0) continue;
    // A time below the clock's bound is not claimed as a wait: moving begins after it.
    const std::int64_t start_ns =
        wait.t_start_ns + (wait.ns == 0 ? duration_ns(0, wait.unknown_ns) : 0);
    std::int64_t lasted_ns = 0;
    add_ns(lasted_ns, wait.ns);
    add_ns(lasted_ns, wait.moving_ns);
    const std::int64_t end_ns = start_ns + lasted_ns;
    for (const MemoryCallRow& call : calls_of(job.run, wait.message)) {
      const std::int64_t begin = std::max(call.t_start_ns, start_ns);
      const std::int64_t end = std::min(call.t_end_ns, end_ns);
      if (call.outermost) add_ns(wait.registration_ns, duration_ns(begin, end));
    }
  }
}

}  // namespace uctrace::merge

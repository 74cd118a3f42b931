// Shared by all wait states: times of calls, clocks, and the making of rows. Private to the waits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/waits/wait_rules.hpp"

namespace uctrace::merge {

class WaitMaker {
 public:
  explicit WaitMaker(const Job& job) : job_(job) {}

  const MpiCall& call(CallIndex index) const { return job_.calls[index]; }

  // Nothing if the call has not returned, or its times are not known.
  std::optional<CallTimes> times(CallIndex index) const {
    const MpiCall& c = call(index);
    if (c.open || c.start_ns < 0 || c.end_ns < c.start_ns) return std::nullopt;
    return CallTimes{c.start_ns, c.end_ns};
  }

  // A wait of `index` that ended at `ready_ns` of `process`. `cause` may be kNone.
  Awaited awaited(WaitKind kind, CallIndex index, ProcessIndex process, CallIndex cause,
                  std::int64_t ready_ns) const {
    const MpiCall& c = call(index);
    Awaited one;
    one.wait = row(kind, index);
    one.wait.cause_process = process.number();
    one.wait.cause_call = cause.number();
    one.ready_ns = ready_ns;
    const auto margin = clock_margin_ns(job_, c.process, c.start_ns, process, ready_ns);
    if (margin) {
      one.margin_ns = *margin;
    } else {
      one.wait.unknown = WaitUnknown::clocks;
    }
    return one;
  }

  // Something that the call may have waited for.
  Awaited unknown(WaitKind kind, CallIndex index, WaitUnknown why) const {
    Awaited one;
    one.wait = row(kind, index);
    one.wait.unknown = why;
    return one;
  }

  // Rows of one call, by its times.
  void add(CallIndex index, std::vector<Awaited> awaited, std::vector<Wait>& rows) const {
    const std::optional<CallTimes> of_call = times(index);
    if (!of_call || awaited.empty()) return;
    const std::vector<Wait> made = divide_waits(*of_call, std::move(awaited));
    rows.insert(rows.end(), made.begin(), made.end());
  }

  // The time in a call of an all-to-all operation after the last process entered it (`last`) and
  // the first one left it.
  void add_completion(WaitKind kind, CallIndex index, CallIndex last, CallIndex first_left,
                      std::vector<Wait>& rows) const {
    const std::optional<CallTimes> of_call = times(index);
    if (!of_call) return;
    const MpiCall& first = call(first_left);
    Awaited one = awaited(kind, index, first.process, first_left, first.end_ns);
    const std::int64_t ns = completion_of(*of_call, call(last).start_ns, first.end_ns);
    if (ns <= one.margin_ns || one.wait.unknown != WaitUnknown::none) return;
    one.wait.ns = ns;
    one.wait.t_start_ns = of_call->left_ns - ns;
    rows.push_back(one.wait);
  }

 private:
  Wait row(WaitKind kind, CallIndex index) const {
    const MpiCall& c = call(index);
    Wait wait;
    wait.kind = kind;
    wait.process = static_cast<std::uint32_t>(c.process.number());
    wait.call = index.number();
    wait.communicator = c.comm == kNone ? -1 : job_.logs[c.process].comms[c.comm].instance.number();
    return wait;
  }

  const Job& job_;
};

}  // namespace uctrace::merge

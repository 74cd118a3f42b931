#include "log-merger/waits/wait_rules.hpp"

#include <utility>

namespace uctrace::merge {

namespace {

bool is_late(const Awaited& one, const CallTimes& call) { return one.ready_ns > call.entered_ns; }

// Time after the wait while the awaited data was on its way.
std::int64_t moving_after(const Awaited& one, const CallTimes& call, std::int64_t until_ns) {
  const std::int64_t done_ns = one.done_ns < 0 ? call.left_ns : std::min(one.done_ns, call.left_ns);
  return std::max<std::int64_t>(0, done_ns - until_ns);
}

}  // namespace

std::vector<Wait> divide_waits(const CallTimes& call, std::vector<Awaited> awaited) {
  std::vector<Wait> waits;
  const auto unknown = std::stable_partition(
      awaited.begin(), awaited.end(),
      [](const Awaited& one) { return one.wait.unknown == WaitUnknown::none; });
  std::stable_sort(awaited.begin(), unknown,
                   [](const Awaited& a, const Awaited& b) { return a.ready_ns < b.ready_ns; });
  std::int64_t from_ns = call.entered_ns;
  for (auto one = awaited.begin(); one != unknown; ++one) {
    if (!is_late(*one, call)) continue;
    const std::int64_t until_ns = std::min(one->ready_ns, call.left_ns);
    if (until_ns <= from_ns) continue;
    Wait wait = one->wait;
    wait.t_start_ns = from_ns;
    const bool claimed = one->ready_ns - call.entered_ns > one->margin_ns;
    (claimed ? wait.ns : wait.unknown_ns) = until_ns - from_ns;
    if (!claimed) wait.unknown = WaitUnknown::below_clock_bound;
    if (wait.message >= 0) wait.moving_ns = moving_after(*one, call, until_ns);
    waits.push_back(wait);
    from_ns = until_ns;
  }
  const auto ends_ns = [&](const Awaited& one) {
    return one.until_ns < 0 ? call.left_ns : std::min(one.until_ns, call.left_ns);
  };
  const auto longest =
      std::max_element(unknown, awaited.end(),
                       [&](const Awaited& a, const Awaited& b) { return ends_ns(a) < ends_ns(b); });
  if (longest != awaited.end() && ends_ns(*longest) > from_ns) {
    Wait wait = longest->wait;
    wait.t_start_ns = from_ns;
    wait.unknown_ns = ends_ns(*longest) - from_ns;
    waits.push_back(wait);
  }
  return waits;
}

}  // namespace uctrace::merge

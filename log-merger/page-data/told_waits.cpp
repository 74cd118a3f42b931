#include "log-merger/page-data/told_waits.hpp"

#include <algorithm>

namespace uctrace {

void ToldWaits::add(std::int64_t place, const MpiCallRow& call, const Wait& wait) {
  if (!is_waiting(wait.kind)) return;
  const auto tell = [&](std::int64_t start_ns, std::int64_t ns, WaitUnknown unknown) {
    if (ns <= 0) return;
    // The start is moved into its call, or the difference may not fit.
    const std::int64_t inside = std::max(call.t_start_ns, std::min(start_ns, call.t_end_ns));
    waits_.push_back({place, inside - call.t_start_ns, ns, wait.cause_process,
                      static_cast<std::int64_t>(wait.kind), static_cast<std::int64_t>(unknown)});
  };
  tell(wait.t_start_ns, wait.ns, WaitUnknown::none);
  tell(wait.t_start_ns + wait.ns, wait.unknown_ns, wait.unknown);
}

PackedTable ToldWaits::table() {
  std::sort(waits_.begin(), waits_.end(),
            [](const ToldWait& a, const ToldWait& b) { return a.order() < b.order(); });
  PackedTable table{"waits",
                    {{"call", Coding::differences, {}},
                     {"since_start_ns", Coding::values, {}},
                     {"ns", Coding::values, {}},
                     {"cause", Coding::values, {}},
                     {"kind", Coding::values, {}},
                     {"unknown", Coding::values, {}}}};
  for (const ToldWait& wait : waits_) {
    append(table, {wait.call, wait.since_start_ns, wait.ns, wait.cause, wait.kind, wait.unknown});
  }
  return table;
}

}  // namespace uctrace

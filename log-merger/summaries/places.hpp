// Rows of waits by place: stacks with the same call site are one place.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "log-merger/model/durations.hpp"
#include "log-merger/model/model.hpp"

namespace uctrace {

inline void add_to(Delay& sum, const Delay& more) {
  sum.waits += more.waits;
  add_ns(sum.direct_ns, more.direct_ns);
  add_ns(sum.passed_on_ns, more.passed_on_ns);
}
inline void add_to(CriticalPart& sum, const CriticalPart& more) {
  add_ns(sum.work_ns, more.work_ns);
  add_ns(sum.mpi_ns, more.mpi_ns);
}

// One row for each process, function and call site; the longest first, by `length`.
template <typename Row, typename Length>
std::vector<Row> by_place(const Run& run, const std::vector<Row>& rows, Length length) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, Row> places;
  for (const Row& row : rows) {
    const auto [place, fresh] =
        places.try_emplace({row.process, row.function, call_site_at(run, row.stack)}, row);
    if (!fresh) add_to(place->second, row);
  }
  std::vector<Row> sums;
  for (const auto& [place, sum] : places) sums.push_back(sum);
  std::stable_sort(sums.begin(), sums.end(),
                   [&](const Row& a, const Row& b) { return length(a) > length(b); });
  return sums;
}

}  // namespace uctrace

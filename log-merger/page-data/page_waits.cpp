#include "log-merger/page-data/page_waits.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "log-merger/page-data/told_waits.hpp"

namespace uctrace {
namespace {

// Rows of the page's mpi_calls by the numbers of their calls in the run.
class PlacesOfCalls {
 public:
  explicit PlacesOfCalls(const DetailChoice::Numbers& chosen) {
    places_.reserve(chosen.size());
    for (std::size_t place = 0; place < chosen.size(); ++place) {
      places_.emplace_back(static_cast<std::int64_t>(chosen[place]), place);
    }
    std::sort(places_.begin(), places_.end());
  }

  // -1 for a call that is not chosen.
  std::int64_t operator()(std::int64_t call) const {
    const auto found = std::lower_bound(places_.begin(), places_.end(), std::pair(call, 0UL));
    if (found == places_.end() || found->first != call) return -1;
    return static_cast<std::int64_t>(found->second);
  }

 private:
  std::vector<std::pair<std::int64_t, std::size_t>> places_;
};

// Unsigned, as all sums of times from a store: there is no limit to how many times it has.
struct WaitSum {
  std::int64_t waits = 0;
  std::uint64_t ns = 0;
};
// By waiting process, process waited for, and kind.
using WaitSums = std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, WaitSum>;

// Nanoseconds that each process waited in each slab.
class WaitedInSlabs {
 public:
  WaitedInSlabs(const TimeAxis& axis, std::size_t processes)
      : axis_(axis), ns_(processes * axis.slabs) {}

  // Time outside of the axis is left out.
  void add(std::uint32_t process, std::int64_t start_ns, std::int64_t ns) {
    const std::int64_t end_of_axis = axis_.from_ns + axis_.slab_ns * std::int64_t{axis_.slabs};
    std::int64_t at = std::max(start_ns, axis_.from_ns);
    const std::int64_t until = std::min(start_ns + ns, end_of_axis);
    while (at < until) {
      const std::uint32_t slab = axis_.slab_of(at);
      const std::int64_t end =
          std::min(until, axis_.from_ns + axis_.slab_ns * (std::int64_t{slab} + 1));
      ns_[std::size_t{process} * axis_.slabs + slab] += static_cast<std::uint64_t>(end - at);
      at = end;
    }
  }

  // Successive slabs of a process with the same time are one row.
  PackedTable table() const {
    PackedTable table{"wait_activity",
                      {{"process", Coding::differences, {}},
                       {"slab", Coding::differences, {}},
                       {"length", Coding::values, {}},
                       {"busy_ns", Coding::values, {}}}};
    for (std::size_t first = 0, end; first < ns_.size(); first = end) {
      const std::size_t process = first / axis_.slabs, behind = (process + 1) * axis_.slabs;
      for (end = first + 1; end < behind && ns_[end] == ns_[first];) ++end;
      if (ns_[first] == 0) continue;
      append(table, {number(process), number(first % axis_.slabs), number(end - first),
                     static_cast<std::int64_t>(ns_[first])});
    }
    return table;
  }

 private:
  const TimeAxis axis_;
  std::vector<std::uint64_t> ns_;  // by process, then slab
};

PackedTable wait_sums_table(const WaitSums& sums) {
  PackedTable table{"wait_sums",
                    {{"process", Coding::differences, {}},
                     {"cause", Coding::values, {}},
                     {"kind", Coding::values, {}},
                     {"waits", Coding::values, {}},
                     {"ns", Coding::values, {}}}};
  for (const auto& [key, sum] : sums) {
    append(table, {std::get<0>(key), std::get<1>(key), std::get<2>(key), sum.waits,
                   static_cast<std::int64_t>(sum.ns)});
  }
  return table;
}

}  // namespace

std::vector<PackedTable> make_waits(const RowSource& source, const TimeWindow& window,
                                    const TimeAxis& axis, const DetailChoice::Chosen& chosen) {
  const PlacesOfCalls place_of(chosen.of(RowsOf::mpi_calls));
  RowWindow<MpiCallRow> calls(source,
                              Wanted<MpiCallRow>{&MpiCallRow::t_start_ns, &MpiCallRow::t_end_ns});
  WaitSums sums;
  WaitedInSlabs slabs(axis, source.run().processes.size());
  ToldWaits told;
  for_each_row(source, ToldWaits::of_waits() | Wanted<Wait>(&Wait::process),
               [&](const Wait& wait, std::size_t) {
                 // A completion moves data: it is no waiting.
                 if (!is_waiting(wait.kind)) return;
                 const auto kind = static_cast<std::int64_t>(wait.kind);
                 if (wait.ns > 0 && is_in_totals(wait.kind)) {
                   slabs.add(wait.process, wait.t_start_ns, wait.ns);
                   if (window.takes(wait.t_start_ns)) {
                     WaitSum& sum = sums[{wait.process, wait.cause_process, kind}];
                     ++sum.waits;
                     sum.ns += static_cast<std::uint64_t>(wait.ns);
                   }
                 }
                 const std::int64_t place = place_of(wait.call);
                 if (place < 0) return;
                 told.add(place, calls.row(static_cast<std::size_t>(wait.call)), wait);
               });
  return {wait_sums_table(sums), slabs.table(), told.table()};
}

nlohmann::ordered_json wait_names_json() {
  nlohmann::ordered_json kinds = nlohmann::ordered_json::array(), unknown = kinds;
  for (const WaitKind kind : kAllWaitKinds) kinds.push_back(name_of(kind));
  constexpr auto kReasons = static_cast<std::size_t>(WaitUnknown::request) + 1;
  for (std::size_t i = 0; i < kReasons; ++i) {
    unknown.push_back(name_of(static_cast<WaitUnknown>(i)));
  }
  return {{"kinds", std::move(kinds)}, {"unknown", std::move(unknown)}};
}

}  // namespace uctrace

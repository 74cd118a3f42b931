#include "log-merger/waits/delays.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "log-merger/waits/sums_of_ranges.hpp"
#include "log-merger/waits/wait_identities.hpp"

namespace uctrace::merge {

namespace {

// Costs passed through a wait, in fractional nanoseconds.
struct Cost {
  double short_ns = 0, long_ns = 0;
};

// The waits of one process by time. Only those of several threads may overlap: waits that begin
// within another one are not counted in its time.
struct WaitsOfProcess {
  std::vector<std::size_t> rows;  // of Run::waits
  std::vector<std::int64_t> begins, ends;
  std::vector<std::int64_t> before;  // sum of earlier lengths
  SumsOfRanges passed_on;            // cost per nanosecond of each, from later waits of others
};

// Some of a process that follow each other.
struct Span {
  std::size_t first = 0, end = 0;
  std::int64_t ns = 0;
};

class Delays {
 public:
  Delays(Job& job, const Meetings& meetings)
      : job_(job), run_(job.run), meetings_(meetings), of_process_(job.logs.size()) {
    lay_out();
  }

  void find() {
    for (const std::size_t row : by_end()) trace(run_.waits[row], row);
    add_rows();
  }

 private:
  using Key = std::tuple<std::uint32_t, TextId, std::int32_t>;  // process, function, stack

  void lay_out() {
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < run_.waits.size(); ++row) {
      if (has_cost(run_.waits[row])) rows.push_back(row);
    }
    std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
      return run_.waits[a].t_start_ns < run_.waits[b].t_start_ns;
    });
    place_.resize(run_.waits.size(), kNowhere);
    for (const std::size_t row : rows) {
      const Wait& wait = run_.waits[row];
      WaitsOfProcess& own = of_process_[wait.process];
      if (!own.ends.empty() && wait.t_start_ns < own.ends.back()) continue;
      place_[row] = own.rows.size();
      own.before.push_back(
          own.rows.empty() ? 0 : own.before.back() + own.ends.back() - own.begins.back());
      own.rows.push_back(row);
      own.begins.push_back(wait.t_start_ns);
      own.ends.push_back(wait.t_start_ns + wait.ns);
    }
    for (WaitsOfProcess& own : of_process_) own.passed_on = SumsOfRanges(own.rows.size());
  }

  // Latest first: waits that pass cost on to a wait end after it.
  std::vector<std::size_t> by_end() const {
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < run_.waits.size(); ++row) {
      if (has_cost(run_.waits[row])) rows.push_back(row);
    }
    const auto end_ns = [&](std::size_t row) {
      return run_.waits[row].t_start_ns + run_.waits[row].ns;
    };
    std::stable_sort(rows.begin(), rows.end(),
                     [&](std::size_t a, std::size_t b) { return end_ns(a) > end_ns(b); });
    return rows;
  }

  // Waits of a process that ended in (from, to].
  Span waits_between(const WaitsOfProcess& own, std::int64_t from, std::int64_t to) const {
    const auto first_after = [&](std::int64_t ns) {
      return static_cast<std::size_t>(std::upper_bound(own.ends.begin(), own.ends.end(), ns) -
                                      own.ends.begin());
    };
    Span span;
    span.first = first_after(from);
    span.end = first_after(to);
    if (span.first >= span.end) return {};
    span.ns = own.before[span.end - 1] + own.ends[span.end - 1] - own.begins[span.end - 1] -
              own.before[span.first];
    return span;
  }

  Cost cost_of(const Wait& wait, std::size_t row) const {
    Cost cost{static_cast<double>(wait.ns), 0};
    if (place_[row] != kNowhere) {
      cost.long_ns =
          of_process_[wait.process].passed_on.at(place_[row]) * static_cast<double>(wait.ns);
    }
    return cost;
  }

  void trace(const Wait& wait, std::size_t row) {
    const Cost cost = cost_of(wait, row);
    const ProcessIndex own(wait.process), late(wait.cause_process);
    const std::int64_t late_ns = wait.t_start_ns + wait.ns;
    const Meeting meeting = meetings_.last(own, late, {wait.t_start_ns, late_ns});
    const Span waits_of_own =
        waits_between(of_process_[own.place()], meeting.own_ns, wait.t_start_ns);
    // A wait must end later than the one it passes cost on to (by_end).
    const Span waits_of_late =
        waits_between(of_process_[late.place()], meeting.other_ns, late_ns - 1);
    const std::int64_t work_of_late = late_ns - meeting.other_ns - waits_of_late.ns;
    const std::int64_t work_of_own = wait.t_start_ns - meeting.own_ns - waits_of_own.ns;
    const double more = static_cast<double>(std::max<std::int64_t>(0, work_of_late - work_of_own));
    const double waited = static_cast<double>(waits_of_late.ns);
    const double share_of_work = more + waited > 0 ? more / (more + waited) : 1;
    if (waited > 0) {
      const double a_ns = (cost.short_ns + cost.long_ns) * (1 - share_of_work) / waited;
      of_process_[late.place()].passed_on.add(waits_of_late.first, waits_of_late.end, a_ns);
    }
    Cost& of_work = delays_[key_of(wait)];
    of_work.short_ns += cost.short_ns * share_of_work;
    of_work.long_ns += cost.long_ns * share_of_work;
    ++counts_[key_of(wait)];
  }

  // The late call defines the place.
  Key key_of(const Wait& wait) const {
    const auto process = static_cast<std::uint32_t>(wait.cause_process);
    if (wait.cause_call < 0) return {process, kNoText, -1};
    const MpiCallRow& call = run_.mpi_calls[static_cast<std::size_t>(wait.cause_call)];
    return {process, call.function, call.stack};
  }

  void add_rows() {
    for (const auto& [key, cost] : delays_) {
      const auto& [process, function, stack] = key;
      run_.delays.push_back({process, function, stack, counts_[key], std::llround(cost.short_ns),
                             std::llround(cost.long_ns)});
    }
    std::stable_sort(run_.delays.begin(), run_.delays.end(), [](const Delay& a, const Delay& b) {
      return a.direct_ns + a.passed_on_ns > b.direct_ns + b.passed_on_ns;
    });
  }

  static constexpr std::size_t kNowhere = SIZE_MAX;

  Job& job_;
  Run& run_;
  const Meetings& meetings_;
  std::vector<WaitsOfProcess> of_process_;
  std::vector<std::size_t> place_;  // of a row of Run::waits among those of its process
  std::map<Key, Cost> delays_;
  std::map<Key, std::uint64_t> counts_;
};

}  // namespace

void find_delays(Job& job, const Meetings& meetings) { Delays(job, meetings).find(); }

}  // namespace uctrace::merge

#include "log-merger/waits/critical_path.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "log-merger/waits/wait_identities.hpp"

namespace uctrace::merge {

namespace {

constexpr std::int64_t kNoCall = -1;

class Walk {
 public:
  explicit Walk(const Run& run)
      : run_(run), used_(run.waits.size()), begin_ns_(run.processes.size()) {
    for (const RankTime& rank : run.rank_times) begin_ns_[rank.process] = rank.t_begin_ns;
  }

  std::vector<CriticalPart> parts() {
    if (begin_at_the_end()) {
      while (step()) {
      }
    }
    std::vector<CriticalPart> rows;
    for (const auto& [key, part] : parts_) rows.push_back(part);
    std::stable_sort(rows.begin(), rows.end(), [](const CriticalPart& a, const CriticalPart& b) {
      return a.work_ns + a.mpi_ns > b.work_ns + b.mpi_ns;
    });
    return rows;
  }

 private:
  using Key = std::tuple<std::uint32_t, TextId, std::int32_t>;  // process, function, stack

  const MpiCallRow& call(std::int64_t row) const {
    return run_.mpi_calls[static_cast<std::size_t>(row)];
  }

  CriticalPart& part_of(std::int64_t row) {
    const MpiCallRow& c = call(row);
    CriticalPart& part = parts_[{c.process, c.function, c.stack}];
    part.process = c.process;
    part.function = c.function;
    part.stack = c.stack;
    return part;
  }

  // Starts at the last call of the process that ended last; nothing after it is on the path.
  bool begin_at_the_end() {
    const auto last =
        std::max_element(run_.rank_times.begin(), run_.rank_times.end(),
                         [](const auto& a, const auto& b) { return a.t_end_ns < b.t_end_ns; });
    if (last == run_.rank_times.end()) return false;
    at_ns_ = last->t_end_ns;
    for (std::size_t row = run_.mpi_calls.size(); row-- > 0;) {
      const MpiCallRow& c = run_.mpi_calls[row];
      if (c.process != last->process || (c.t_start_ns != at_ns_ && c.t_end_ns != at_ns_)) continue;
      const auto found = static_cast<std::int64_t>(row);
      next_ = found;
      current_ = c.t_start_ns == at_ns_ ? call_before(found) : found;
      return true;
    }
    return false;
  }

  // The previous call of the same thread with known times.
  std::int64_t call_before(std::int64_t row) const {
    const MpiCallRow& from = call(row);
    for (std::int64_t before = row - 1; before >= 0; --before) {
      const MpiCallRow& c = call(before);
      if (c.process != from.process) break;
      if (c.lane == from.lane && c.t_start_ns >= 0 && c.t_end_ns >= c.t_start_ns) return before;
    }
    return kNoCall;
  }

  // Handles the time before `at_ns_` on the thread of `next_`, whose previous call is `current_`.
  // Returns whether the path goes on.
  bool step() {
    while (current_ != kNoCall && call(current_).t_start_ns >= at_ns_) go_before_current();
    const std::int64_t begin_ns = begin_ns_[call(next_).process];
    const std::int64_t left_ns =
        current_ == kNoCall ? begin_ns : std::max(begin_ns, call(current_).t_end_ns);
    if (at_ns_ > left_ns) {
      part_of(next_).work_ns += at_ns_ - left_ns;
      at_ns_ = left_ns;
    }
    if (current_ == kNoCall || at_ns_ <= begin_ns) return false;
    if (const std::optional<std::size_t> wait = last_wait()) {
      follow(run_.waits[*wait]);
    } else {
      in_call(current_, call(current_).t_start_ns);
      go_before_current();
    }
    return true;
  }

  void go_before_current() {
    next_ = current_;
    current_ = call_before(current_);
  }

  void in_call(std::int64_t row, std::int64_t from_ns) {
    if (from_ns >= at_ns_) return;
    part_of(row).mpi_ns += at_ns_ - from_ns;
    at_ns_ = from_ns;
  }

  // A wait of the current call before `at_ns_`. Each is followed once: with clock errors, two
  // processes may seem to wait for each other at the same instant.
  std::optional<std::size_t> last_wait() {
    const auto begin = std::partition_point(run_.waits.begin(), run_.waits.end(),
                                            [&](const Wait& w) { return w.call < current_; });
    std::optional<std::size_t> found;
    for (auto wait = begin; wait != run_.waits.end() && wait->call == current_; ++wait) {
      const auto row = static_cast<std::size_t>(wait - run_.waits.begin());
      if (!has_cost(*wait) || wait->cause_call < 0 || wait->t_start_ns >= at_ns_) continue;
      if (!used_[row]) found = row;
    }
    if (found) used_[*found] = true;
    return found;
  }

  void follow(const Wait& wait) {
    in_call(current_, wait.t_start_ns + wait.ns);
    next_ = wait.cause_call;
    in_call(next_, call(next_).t_start_ns);  // where it began before the wait ended
    current_ = call_before(next_);
  }

  const Run& run_;
  std::vector<bool> used_;
  std::vector<std::int64_t> begin_ns_;  // by process
  std::map<Key, CriticalPart> parts_;
  std::int64_t at_ns_ = 0;
  std::int64_t next_ = kNoCall, current_ = kNoCall;
};

}  // namespace

std::vector<CriticalPart> critical_path(const Run& run) { return Walk(run).parts(); }

}  // namespace uctrace::merge

// At any instant at which all processes record, the number of messages on their way is known: those
// counted as sent by then, minus those counted as received. If it is zero, every message sent so
// far had been received, and pairs can be counted from there in both directions. An instant on a
// single clock is a consistent cut: nothing is received before it is sent, so errors cannot cancel
// out.
//
// This needs reliable counts: an MPI job with all logs, complete except for the user's omissions,
// with all hooks in place, and with all processes on one clock.
#include "log-merger/match/quiescence.hpp"

#include <algorithm>
#include <map>

#include "log-merger/audit/totals.hpp"
#include "log-merger/model/faults.hpp"
#include "log-merger/peers/unlogged_peers.hpp"

namespace uctrace::merge {

namespace {

using log::UcpFamily;

// All counts of messages are modulo 2^64: in a damaged log they may be anything, and do not agree.
constexpr std::uint64_t kOneMore = 1, kOneLess = UINT64_MAX;

struct Step {
  std::int64_t at_ns;
  std::uint64_t on_the_way;  // more messages from here on
  std::int64_t missing;      // additional lanes with missing events
};

struct Counts {
  std::uint64_t sent = 0, taken = 0;
  std::uint64_t on_the_way() const { return sent - taken; }
  Counts& operator-=(const Counts& less) {
    sent -= less.sent;
    taken -= less.taken;
    return *this;
  }
};

class Timeline {
 public:
  Timeline(const Job& job, UcpFamily sent_by)
      : job_(job),
        sent_by_(sent_by),
        taken_by_(sent_by == UcpFamily::am_send ? UcpFamily::am_receive : UcpFamily::tag_receive),
        recorded_(job.logs.size()),
        overwritten_(job.logs.size(), INT64_MIN) {}

  std::vector<WholePart> parts() {
    find_gaps();
    add_operations();
    const bool counted = add_gaps() && counts_are_whole();
    std::sort(steps_.begin(), steps_.end(),
              [](const Step& a, const Step& b) { return a.at_ns < b.at_ns; });
    return cut(counted);
  }

 private:
  // A message counts from the beginning of its send to the end of its receive.
  void add_operations() {
    for (const UcpOp& op : job_.ucp) {
      Counts& recorded = recorded_[op.process];
      see_start(op);
      if (op.is(sent_by_) && op.accepted()) {
        ++recorded.sent;
        steps_.push_back({op.start_ns, kOneMore, 0});
      } else if (op.is(taken_by_) && op.received()) {
        ++recorded.taken;
        steps_.push_back({op.taken_ns(), kOneLess, 0});
      }
    }
    if (taken_by_ == UcpFamily::tag_receive) {
      for (const OutsideReceive& end : job_.outside_receives) {
        ++recorded_[end.process].taken;
        steps_.push_back({end.end_ns, kOneLess, 0});
      }
    }
  }

  // Gaps in which a lane had counted operations, by time. Operations in progress at the beginning
  // of a gap are missing as well: they began after the newest known operation at the earliest.
  struct CountedGap {
    std::int64_t begin_ns, end_ns, latest_start_ns;
    Counts missed;
  };
  using LaneKey = std::pair<ProcessIndex, std::uint16_t>;

  void find_gaps() {
    for (std::size_t p = 0; p < job_.logs.size(); ++p) {
      const ProcessLog& log = job_.logs[p];
      for (const LaneGap& gap : log.recorded.lane_gaps) {
        const std::int64_t end =
            gap.span.end_tick == UINT64_MAX ? INT64_MAX : log.clock.job_ns(gap.span.end_tick);
        if (gap.overwritten) {
          overwritten_[p] = std::max(overwritten_[p], end);
        } else if (gap.counted.ucp_operations + gap.counted.ucp_completed != 0) {
          std::vector<CountedGap>& gaps = gaps_[{ProcessIndex(p), gap.lane}];
          const std::int64_t begin =
              gap.span.begin_tick == 0 ? INT64_MIN : log.clock.job_ns(gap.span.begin_tick);
          const std::int64_t earliest = gaps.empty() ? INT64_MIN : gaps.back().end_ns;
          gaps.push_back({begin, end, earliest, counted(gap.counted)});
        }
      }
    }
  }

  void see_start(const UcpOp& op) {
    const auto found = gaps_.find({op.process, op.lane});
    if (found == gaps_.end()) {
      return;
    }
    const auto next =
        std::partition_point(found->second.begin(), found->second.end(),
                             [&](const CountedGap& gap) { return gap.begin_ns < op.start_ns; });
    if (next != found->second.end()) {
      next->latest_start_ns = std::max(next->latest_start_ns, op.start_ns);
    }
  }

  bool counts_are_whole() const {
    const auto hides_operations = [](const auto& fault) {
      // Unknown memory hides no operation.
      return fault.first.layer != log::Layer::gpu &&
             !loses_nothing(static_cast<log::FaultCode>(fault.first.head.a));
    };
    return job_complete(job_) && job_.monotonic_clocks == 1 && !may_have_unlogged_peers(job_) &&
           std::none_of(job_.logs.begin(), job_.logs.end(), [&](const ProcessLog& log) {
             return std::any_of(log.faults.begin(), log.faults.end(), hides_operations);
           });
  }

  Counts counted(const log::LaneCounters& counters) const {
    return sent_by_ == UcpFamily::am_send ? Counts{counters.ucp_am_sends, counters.ucp_am_receives}
                                          : Counts{counters.ucp_sends, counters.ucp_messages_taken};
  }

  void add_missing(std::int64_t begin, std::int64_t end, std::uint64_t on_the_way) {
    steps_.push_back({begin, 0, 1});
    steps_.push_back({end, on_the_way, -1});
  }

  static bool is_negative(std::uint64_t count) { return count > INT64_MAX; }

  // False: the counts of a process contradict its records and gaps.
  bool add_gaps() {
    ByIndex<ProcessLog, Counts> unexplained;
    for (std::size_t p = 0; p < job_.logs.size(); ++p) {
      unexplained.push_back(counted(job_.logs[p].totals));
      unexplained[p] -= recorded_[p];
    }
    for (const auto& [lane, gaps] : gaps_) {
      for (const CountedGap& gap : gaps) {
        unexplained[lane.first] -= gap.missed;
        add_missing(std::min(gap.begin_ns, gap.latest_start_ns), gap.end_ns,
                    gap.missed.on_the_way());
      }
    }
    bool all = true;
    for (std::size_t p = 0; p < job_.logs.size(); ++p) {
      const Counts& rest = unexplained[p];
      if (overwritten_[p] != INT64_MIN) {
        add_missing(INT64_MIN, overwritten_[p], rest.on_the_way());
        all = all && !is_negative(rest.sent) && !is_negative(rest.taken);
      } else {
        all = all && rest.sent == 0 && rest.taken == 0;
      }
    }
    return all;
  }

  std::vector<WholePart> cut(bool counted) const {
    const auto margin = static_cast<std::int64_t>(
        std::min(2 * job_.clock_error_ns, static_cast<double>(log::kFarAwayNs)));
    std::vector<WholePart> parts;
    std::uint64_t on_the_way = 0;
    std::int64_t missing = 0;
    bool open = false;
    std::size_t i = 0;
    const auto begin_part = [&](std::int64_t at, bool quiet) {
      parts.push_back({at, INT64_MAX, quiet, false});
      open = true;
    };
    const auto end_part = [&](std::int64_t at, bool quiet) {
      parts.back().end_ns = at;
      parts.back().quiescent_after = quiet;
      open = false;
    };
    std::int64_t since = INT64_MIN;  // of the present state
    while (true) {
      const std::int64_t next = i < steps_.size() ? steps_[i].at_ns : INT64_MAX;
      if (missing == 0 && !open && next > since) {
        begin_part(since, since == INT64_MIN);  // before all, nothing was sent
      }
      const bool long_enough =
          since > INT64_MIN && next < INT64_MAX && next - since > 2 * margin + 1;
      if (open && counted && on_the_way == 0 && missing == 0 && long_enough) {
        const std::int64_t middle = since + (next - since) / 2;
        end_part(middle, true);
        begin_part(middle, true);
      }
      if (i == steps_.size()) {
        return parts;
      }
      for (; i < steps_.size() && steps_[i].at_ns == next; ++i) {
        on_the_way += steps_[i].on_the_way;
        missing += steps_[i].missing;
      }
      if (missing > 0 && open) {
        end_part(next, false);
      }
      since = next;
    }
  }

  const Job& job_;
  UcpFamily sent_by_, taken_by_;
  ByIndex<ProcessLog, Counts> recorded_;   // by process
  std::vector<std::int64_t> overwritten_;  // until when, by process
  std::map<LaneKey, std::vector<CountedGap>> gaps_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<WholePart> whole_parts(const Job& job, UcpFamily sent_by) {
  return Timeline(job, sent_by).parts();
}

}  // namespace uctrace::merge

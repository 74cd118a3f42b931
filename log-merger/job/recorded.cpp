#include "log-merger/job/recorded.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace uctrace::merge {

namespace {

constexpr std::size_t kWords = sizeof(log::LaneCounters) / sizeof(std::uint64_t);
using CounterWords = std::array<std::uint64_t, kWords>;

CounterWords words_of(const log::LaneCounters& counters) {
  CounterWords words;
  std::memcpy(words.data(), &counters, sizeof counters);
  return words;
}

log::LaneCounters counters_of(const CounterWords& words) {
  log::LaneCounters counters{};
  std::memcpy(static_cast<void*>(&counters), words.data(), sizeof counters);
  return counters;
}

// Counters only grow, except in a damaged log.
log::LaneCounters difference(const log::LaneCounters& later, const log::LaneCounters& earlier) {
  CounterWords words = words_of(later);
  const CounterWords less = words_of(earlier);
  for (std::size_t i = 0; i < kWords; ++i) {
    words[i] -= std::min(words[i], less[i]);
  }
  return counters_of(words);
}

std::uint64_t sum_of(std::span<const std::uint64_t> counts) {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) {
    sum += count;
  }
  return sum;
}

std::vector<Gap> joined(const std::vector<LaneGap>& gaps) {
  std::vector<Gap> sorted;
  for (const LaneGap& gap : gaps) {
    sorted.push_back(gap.span);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Gap& a, const Gap& b) { return a.begin_tick < b.begin_tick; });
  std::vector<Gap> result;
  for (const Gap& gap : sorted) {
    if (!result.empty() && gap.begin_tick <= result.back().end_tick) {
      result.back().end_tick = std::max(result.back().end_tick, gap.end_tick);
    } else {
      result.push_back(gap);
    }
  }
  return result;
}

}  // namespace

log::LaneCounters& operator+=(log::LaneCounters& sum, const log::LaneCounters& more) {
  CounterWords words = words_of(sum);
  const CounterWords added = words_of(more);
  for (std::size_t i = 0; i < kWords; ++i) {
    words[i] += added[i];
  }
  return sum = counters_of(words);
}

void RecordedLoader::take(std::uint16_t lane, const log::RecordingSwitchView& view) {
  by_lane_[lane].push_back({view.on(), view.r.tick, view.r.counters});
  Asked& asked =
      asked_.try_emplace(view.number(), Asked{view.on(), view.r.asked_tick, view.cause()})
          .first->second;
  // A late lane may have read the request time of the next switch.
  asked.tick = std::min(asked.tick, view.r.asked_tick);
}

// A lane without events followed no switch. It has no missing events, however long recording was
// off: missing events are counted between two switches.
void RecordedLoader::add_lane(std::uint16_t lane, const log::LaneInfo& info,
                              Recorded& recorded) const {
  log::LaneCounters counted = info.counters;
  const std::uint64_t last_overwritten = info.counters.overwritten_until_tick;
  static const Switch kBegun{false, 0, {}};  // of a lane that follows switches, before its first
  const auto add_gap = [&](const Switch& off, std::uint64_t end, const log::LaneCounters& at_end) {
    log::LaneCounters missed = difference(at_end, off.counters);
    // Counted when a record is published: the current event belongs to the window.
    missed.recorded_events = missed.memory_words = 0;
    if (sum_of(missed.outside_window) != 0) {
      recorded.lane_gaps.push_back({{off.tick, std::max(off.tick, end)}, lane, false, missed});
      counted = difference(counted, missed);
    }
  };
  if (const auto found = by_lane_.find(lane); found != by_lane_.end()) {
    const Switch* off = &kBegun;
    for (const Switch& step : found->second) {
      if (step.on && off != nullptr) {
        add_gap(*off, step.tick, step.counters);
      }
      off = step.on ? nullptr : off != nullptr ? off : &step;
    }
    if (off != nullptr) {
      add_gap(*off, UINT64_MAX, info.counters);
    }
  }
  if (last_overwritten != 0) {
    recorded.lane_gaps.push_back({{0, last_overwritten}, lane, true, {}});
  }
  recorded.counted += counted;
  recorded.outside += sum_of(info.counters.outside_window);
  recorded.overwritten += sum_of(info.counters.overwritten);
  for (std::size_t kind = 0; kind < log::kEventKinds; ++kind) {
    recorded.missing_by_kind[kind] +=
        info.counters.outside_window[kind] + info.counters.overwritten[kind];
  }
}

void RecordedLoader::list_windows(Recorded& recorded) const {
  recorded.on_demand = !asked_.empty();
  bool open = false;
  for (const auto& [number, asked] : asked_) {
    if (asked.on && !open) {
      recorded.windows.push_back({asked.tick, UINT64_MAX, asked.cause, log::SwitchCause::start});
    } else if (!asked.on && open) {
      recorded.windows.back().end_tick = asked.tick;
      recorded.windows.back().closed_by = asked.cause;
    }
    open = asked.on;
  }
}

Recorded RecordedLoader::finish(const std::vector<log::LaneInfo>& lanes) {
  Recorded recorded;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    add_lane(static_cast<std::uint16_t>(lane), lanes[lane], recorded);
  }
  recorded.gaps = joined(recorded.lane_gaps);
  list_windows(recorded);
  return recorded;
}

}  // namespace uctrace::merge

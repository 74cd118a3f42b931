// The parts of a run whose events are in the log of a process: all of it, or the user's windows,
// and what a log of bounded size still holds (docs/windows.md). Private to log-merger/.
//
// A gap of a lane is a stretch with missing events, known from its RecordingSwitches and counters:
// events that ended in (begin, end]. Between gaps the lane's record is complete.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "event-log/reader/reader.hpp"

namespace uctrace::merge {

struct Gap {
  std::uint64_t begin_tick = 0;         // 0: since the process began
  std::uint64_t end_tick = UINT64_MAX;  // UINT64_MAX: until it ended
};

struct LaneGap {
  Gap span;
  std::uint16_t lane = 0;
  bool overwritten = false;
  log::LaneCounters counted{};  // during the gap; not known for overwritten events
};

// One window, as switched by the user's conditions.
struct RecordingWindow {
  std::uint64_t begin_tick = 0, end_tick = UINT64_MAX;
  log::SwitchCause opened_by = log::SwitchCause::start;
  log::SwitchCause closed_by = log::SwitchCause::start;  // `start`: it was open at the end
};

struct Recorded {
  bool on_demand = false;
  std::vector<RecordingWindow> windows;        // if on_demand
  std::vector<LaneGap> lane_gaps;              // by lane, then time
  std::vector<Gap> gaps;                       // of any lane, joined, by time
  std::uint64_t outside = 0, overwritten = 0;  // events
  std::array<std::uint64_t, log::kEventKinds> missing_by_kind{};
  // All lanes' counters without gaps, for comparison with the records. Useless if something was
  // overwritten.
  log::LaneCounters counted{};

  bool whole() const { return gaps.empty(); }
};

// Collects these from a log, in its order.
class RecordedLoader {
 public:
  void take(std::uint16_t lane, const log::RecordingSwitchView& view);
  Recorded finish(const std::vector<log::LaneInfo>& lanes);

 private:
  struct Switch {
    bool on;
    std::uint64_t tick;
    log::LaneCounters counters;
  };
  struct Asked {
    bool on;
    std::uint64_t tick;
    log::SwitchCause cause;
  };
  void add_lane(std::uint16_t lane, const log::LaneInfo& info, Recorded& recorded) const;
  void list_windows(Recorded& recorded) const;

  std::map<std::uint16_t, std::vector<Switch>> by_lane_;
  std::map<std::uint32_t, Asked> asked_;  // by the number of the switch
};

log::LaneCounters& operator+=(log::LaneCounters& sum, const log::LaneCounters& more);

}  // namespace uctrace::merge

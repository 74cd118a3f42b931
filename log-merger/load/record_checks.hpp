// Checks whether the well-formed records of a log are consistent with each other: they may not be
// after damage to the file or a clock jump. Inconsistencies are counted and reported; no record is
// left out for them. A part of ProcessLoader.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

class RecordChecks {
 public:
  explicit RecordChecks(const ProcessLog& log)
      : log_(log),
        margin_ticks_(static_cast<std::uint64_t>(
            kMarginNs / std::max(log.clock.ns_per_tick(), kFastestNsPerTick))) {}

  // A record that began at `start` and was made at `last` or later. Records of a lane are in the
  // order in which they were made, so earlier records began before that. Signal handlers, which
  // record inside their thread, are exceptions.
  void time(std::uint16_t lane, std::uint64_t start, std::uint64_t last) {
    if (lane >= newest_start_.size()) newest_start_.resize(lane + 1u);
    std::uint64_t& newest = newest_start_[lane];
    faults_.backward += last < newest && newest - last > margin_ticks_;
    newest = std::max(newest, start);
  }

  // Lanes count ids from 1.
  void id(std::uint16_t lane, log::Id id, bool is_new) {
    const bool is_own = log::lane_of(id) == lane && log::number_in_lane(id) != 0;
    faults_.foreign_ids += !is_own;
    faults_.repeated_ids += !is_new;
  }

  void interface(InterfaceIndex row) { faults_.unknown_interfaces += row == kNone; }

  // Those of one endpoint often follow each other.
  void endpoint(std::uint64_t handle) {
    if (handle == 0) return;
    if (handle != last_endpoint_) {
      last_endpoint_ = handle;
      constexpr std::uint64_t kEver = std::numeric_limits<std::uint64_t>::max();
      is_known_ = row_at(log_.endpoints, handle, kEver) != kNone;
    }
    faults_.unknown_endpoints += !is_known_;
  }

  const RecordFaults& faults() const { return faults_; }

 private:
  static constexpr double kMarginNs = 1e6, kFastestNsPerTick = 1e-3;

  const ProcessLog& log_;
  const std::uint64_t margin_ticks_;
  std::vector<std::uint64_t> newest_start_;  // by lane
  std::uint64_t last_endpoint_ = 0;
  bool is_known_ = true;
  RecordFaults faults_;
};

}  // namespace uctrace::merge

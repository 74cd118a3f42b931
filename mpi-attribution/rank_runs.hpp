// Compresses a list of ranks into the runs that a log::Communicator record carries.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/definitions.hpp"

namespace uctrace::mpi {

class RankRuns {
 public:
  static constexpr std::size_t kMaxRuns =
      (log::kMaxRecordBytes - sizeof(log::Communicator)) / sizeof(log::RankRun);

  // Adds the next rank; false, without effect, if it needs another run and the record is full.
  bool append(std::int32_t rank) {
    if (count_ != 0 && extends(runs_[count_ - 1], rank)) {
      log::RankRun& run = runs_[count_ - 1];
      if (run.count == 1) run.stride = rank - run.first;
      ++run.count;
      return true;
    }
    if (count_ == kMaxRuns) return false;
    runs_[count_++] = {.first = rank, .stride = 1, .count = 1, .reserved = 0};
    return true;
  }

  const log::RankRun* data() const { return runs_; }
  std::size_t count() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(log::RankRun); }

 private:
  static bool extends(const log::RankRun& run, std::int32_t rank) {
    return run.count == 1 || std::int64_t{rank} == run.first + std::int64_t{run.stride} * run.count;
  }

  log::RankRun runs_[kMaxRuns];
  std::size_t count_ = 0;
};

}  // namespace uctrace::mpi

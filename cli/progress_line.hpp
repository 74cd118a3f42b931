// A line on standard error that says how far a long merge is, where that is a terminal.
#pragma once

#include <chrono>
#include <optional>

#include "log-merger/parallel/progress.hpp"

namespace uctrace::cli {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { erase(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Before anything else is said.
  void erase();

  // What a merge is given; nullptr where nobody would see it.
  Progress* progress() { return progress_ ? &*progress_ : nullptr; }

 private:
  using Clock = std::chrono::steady_clock;
  void show(const Progress::Now& now);

  std::optional<Progress> progress_;
  const Clock::time_point begun_ = Clock::now();
  Clock::time_point shown_at_{};
  bool shown_ = false;
};

}  // namespace uctrace::cli

// A line on standard error with the progress of long work, if that is a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "log-merger/parallel/progress.hpp"

namespace uctrace::cli {

class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { erase(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // So many rows of a table were read.
  void read(const char* table, std::size_t rows, std::size_t of);

  // So many of the files were written.
  void wrote(const char* files, std::size_t written, std::size_t of);

  // Call it before any other output.
  void erase();

  // The progress callback for a merge; nullptr if nobody would see it.
  Progress* progress() { return progress_ ? &*progress_ : nullptr; }

 private:
  using Clock = std::chrono::steady_clock;
  void show(const Progress::Now& now);
  bool is_time() const;
  void show(const std::string& line);

  std::optional<Progress> progress_;
  const Clock::time_point begun_ = Clock::now();
  Clock::time_point shown_at_{};
  bool shown_ = false;
};

}  // namespace uctrace::cli

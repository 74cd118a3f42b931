// Times of a log: from ticks to nanoseconds, and from the clock of a process to that of its job.
#pragma once

#include <cstdint>
#include <vector>

#include "event-log/format/file_layout.hpp"

namespace uctrace::log {

inline constexpr std::int64_t kFarAwayNs = std::int64_t{1} << 61;

// Places a monotonic clock on the job's: `offset_ns` is how far it is behind at `origin_ns` of its
// own time, and `rate` how much more it falls behind in a nanosecond.
struct JobLine {
  std::int64_t origin_ns = 0;
  std::int64_t offset_ns = 0;
  double rate = 0;
};

// A time on the job's clock, within kFarAwayNs of its zero.
std::int64_t on_line(const JobLine& line, std::int64_t own_ns);

// The straight line from the first anchor of a process to its last, from ticks to nanoseconds.
class ClockFit {
 public:
  ClockFit(Clock clock, std::vector<Anchor> anchors);

  // CLOCK_MONOTONIC_RAW of the host at `tick`. Saturates at 0 and INT64_MAX.
  std::int64_t monotonic_ns(std::uint64_t tick) const;
  // The same on the job's clock, once set_job_line() placed this process on it. Within kFarAwayNs
  // of its zero, so the difference of any two fits.
  std::int64_t job_ns(std::uint64_t tick) const;
  std::int64_t duration_ns(std::uint64_t ticks) const;
  void set_job_line(const JobLine& line) { job_line_ = line; }

  double ns_per_tick() const { return ns_per_tick_; }
  // False if the anchors give no rate: fewer than two instants. Ticks then count as nanoseconds
  // until adopt_rate() gives the rate of another process on the same host.
  bool rate_known() const { return rate_known_; }
  void adopt_rate(double ns_per_tick);

  // Largest distance of an anchor from the line: part of the error bound of every time.
  std::uint64_t max_deviation_ns() const { return max_deviation_ns_; }
  // Anchors whose nanoseconds go back while their ticks go on. Not 0 = do not trust this clock.
  std::uint32_t backward_anchors() const { return backward_anchors_; }
  // Usable anchors in order of their ticks.
  const std::vector<Anchor>& anchors() const { return anchors_; }

 private:
  void measure_deviation();

  std::vector<Anchor> anchors_;
  Anchor origin_{};
  double ns_per_tick_ = 1;
  bool rate_known_ = false;
  JobLine job_line_;
  std::uint64_t max_deviation_ns_ = 0;
  std::uint32_t backward_anchors_ = 0;
};

}  // namespace uctrace::log

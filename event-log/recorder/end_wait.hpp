// How long the end of a process waits for its log to be written: while the file system makes
// progress, and never longer than a total bound. A job must not hang on a file system that is slow
// for ever.
#pragma once

#include <cstdint>

namespace uctrace::log {

inline constexpr std::uint64_t kEndStallNs = 5'000'000'000;  // without progress
inline constexpr std::uint64_t kEndBoundNs = 30'000'000'000;

class EndWait {
 public:
  // The end began at `begun_ns`: earlier waits since then, such as for the helper, count towards
  // the bound.
  EndWait(std::uint64_t begun_ns, std::uint64_t now_ns, std::uint64_t progress)
      : begun_(begun_ns), moved_(now_ns), progress_(progress) {}

  // `progress` counts the writes that succeeded. Returns for how long to wait before the next
  // question; 0: no longer.
  std::uint64_t left_ns(std::uint64_t now_ns, std::uint64_t progress) {
    if (progress != progress_) {
      progress_ = progress;
      moved_ = now_ns;
    }
    const std::uint64_t waited = now_ns - begun_, stalled = now_ns - moved_;
    if (waited >= kEndBoundNs || stalled >= kEndStallNs) return 0;
    const std::uint64_t bound = kEndBoundNs - waited, stall = kEndStallNs - stalled;
    return bound < stall ? bound : stall;
  }

 private:
  const std::uint64_t begun_;
  std::uint64_t moved_, progress_;
};

}  // namespace uctrace::log

// The steps of a job, one after the other: what all processes do at one time. Each process goes
// through the same steps and needs only the current one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tests/tracegen/patterns.hpp"
#include "tests/tracegen/shape.hpp"

namespace uctrace::tracegen {

// The MPI function of a collective step.
enum class Collective : std::uint8_t { barrier, bcast, allreduce, alltoall, kCount };

struct Step {
  std::uint64_t number = 0;
  StepKind kind = StepKind::nonblocking;
  Pattern pattern = Pattern::ring;
  Comm comm = Comm::world;
  Collective collective = Collective::barrier;
  std::uint64_t choice = 0;      // its random part
  std::uint64_t base_bytes = 0;  // the base size of its messages
  std::uint32_t slots = 0;       // the most of any rank
  std::uint32_t per_window = 1;  // messages in flight at once in each direction, of one lane
  std::uint32_t windows = 1;
  std::int64_t begin_ns = 0;  // true time
  // Parts of a window, from its beginning on; each has `width` for every message, a receive's post
  // `kPostNs`. An answer is one part later.
  static constexpr int kReplies = 4;
  std::int64_t width = 0, send_ns = 0, reply_ns[kReplies] = {}, window_ns = 0;

  // All messages of a lane are in flight at once, else one window after the other.
  bool at_once() const {
    return kind == StepKind::nonblocking || kind == StepKind::persistent ||
           kind == StepKind::wildcard || kind == StepKind::shared_tag || kind == StepKind::rma ||
           kind == StepKind::am || kind == StepKind::am_shared || kind == StepKind::partitioned ||
           kind == StepKind::connected;
  }
  std::int64_t end_ns() const { return begin_ns + window_ns * windows; }
  bool is_collective() const {
    return kind == StepKind::collective || kind == StepKind::icollective || kind == StepKind::file;
  }
  // Of its calls on a file: each has as many windows.
  static constexpr std::uint32_t kFileCalls = 3;
  std::uint32_t windows_of_call() const { return std::max(slots, std::uint32_t{1}); }
  // Its requests were made at the start.
  bool is_persistent() const {
    return kind == StepKind::persistent || kind == StepKind::partitioned;
  }
  // All threads of a process take part, or its first alone.
  bool is_threaded() const {
    return !is_collective() && kind != StepKind::rma && kind != StepKind::stream;
  }
};

inline constexpr std::int64_t kPostNs = 250;
inline constexpr std::int64_t kGapNs = 2000;  // between parts: longer than the jitter of ranks
inline constexpr std::int64_t kJitterNs = 500;
inline constexpr std::int64_t kLaneNs = 7;  // how far the threads of a process are apart
inline constexpr std::int64_t kFragmentNs = 150;

class Steps {
 public:
  Steps(const Shape& shape, std::int64_t begin_ns);
  // The next one. The sequence is endless: the plan determines how many are used.
  const Step& next();

 private:
  StepKind choose_kind(std::uint64_t hash) const;
  void choose_pattern();
  void lay_out_time();

  const Shape& shape_;
  std::uint64_t weights_ = 0;
  Step step_;
  std::int64_t end_ns_;
};

}  // namespace uctrace::tracegen

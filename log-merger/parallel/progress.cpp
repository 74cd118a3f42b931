#include "log-merger/parallel/progress.hpp"

#include <algorithm>

namespace uctrace {

void Progress::begin(const char* stage, double until) {
  const std::lock_guard lock(mutex_);
  now_.stage = stage;
  now_.share = begun_at_ = until_;
  until_ = until;
  show_(now_);
}

void Progress::set_events(std::uint64_t events) {
  const std::lock_guard lock(mutex_);
  now_.events = events;
}

// Who finds another one at it leaves it: that one's number is as good. A stage may cut several
// pieces of work, one after the other; what was shown is never taken back.
void Progress::count(std::size_t done, std::size_t pieces) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const double of_stage = static_cast<double>(done) / static_cast<double>(pieces);
  now_.share = std::max(now_.share, begun_at_ + (until_ - begun_at_) * of_stage);
  show_(now_);
}

}  // namespace uctrace

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

// If another thread is already showing, skip: its number is as good. A stage may have several
// rounds of work; the shown value never decreases.
void Progress::count(std::size_t done, std::size_t pieces) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const double of_stage = static_cast<double>(done) / static_cast<double>(pieces);
  now_.share = std::max(now_.share, begun_at_ + (until_ - begun_at_) * of_stage);
  show_(now_);
}

}  // namespace uctrace

#include "log-merger/page-data/page_choice.hpp"

#include <algorithm>
#include <tuple>

namespace uctrace {

// The first one beyond the limit says where the details end.
void DetailChoice::keep_first() {
  if (candidates_.size() <= limit_) return;
  const auto beyond = candidates_.begin() + static_cast<std::ptrdiff_t>(limit_);
  std::nth_element(candidates_.begin(), beyond, candidates_.end(),
                   [](const Candidate& a, const Candidate& b) { return a.start_ns < b.start_ns; });
  candidates_.erase(beyond + 1, candidates_.end());
}

void DetailChoice::add(const Candidate& candidate) {
  constexpr std::size_t kAtLeast = 4096;
  ++events_;
  candidates_.push_back(candidate);
  if (candidates_.size() > kAtLeast && candidates_.size() / 2 > limit_) keep_first();
}

DetailChoice::Chosen DetailChoice::finish() {
  keep_first();
  Chosen chosen{.events = events_, .to_ns = window_.to_ns, .rows = {}};
  if (candidates_.size() > limit_) {
    chosen.to_ns = candidates_.back().start_ns;
    std::erase_if(candidates_,
                  [&](const Candidate& candidate) { return candidate.start_ns >= chosen.to_ns; });
  }
  std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.process, a.start_ns, a.number) < std::tie(b.process, b.start_ns, b.number);
  });
  for (const Candidate& candidate : candidates_) {
    chosen.rows[static_cast<std::size_t>(candidate.table)].push_back(candidate.number);
  }
  candidates_ = {};
  return chosen;
}

}  // namespace uctrace

#include "log-merger/match/pairing.hpp"

#include <algorithm>

namespace uctrace::merge {
namespace {

// Ascending, from 0 to `pairs`.
std::vector<std::size_t> quiescent_points(std::span<const HalfMessage> sends,
                                          std::span<const HalfMessage> receives, std::size_t pairs,
                                          const ClockMargin& margin) {
  std::vector<std::size_t> points{0};
  std::int64_t latest_end = 0;
  for (std::size_t k = 1; k < pairs; ++k) {
    const HalfMessage& receive = receives[k - 1];
    if (receive.end_ns < 0) break;  // no quiescence while one is open
    latest_end = std::max(latest_end, receive.end_ns);
    const HalfMessage& send = sends[k];
    const auto error = margin(receives.front().process, latest_end, send.process, send.start_ns);
    if (error && latest_end < send.start_ns - *error) points.push_back(k);
  }
  points.push_back(pairs);
  return points;
}

// Otherwise there are several sources, endpoints or posting threads: their relative order is not
// known.
bool is_one_queue(std::span<const HalfMessage> halves) {
  const HalfMessage& first = halves.front();
  return std::all_of(halves.begin(), halves.end(), [&](const HalfMessage& half) {
    return half.process == first.process && half.lane == first.lane && half.handle == first.handle;
  });
}

}  // namespace

std::vector<bool> only_possible_pairs(std::span<const HalfMessage> sends,
                                      std::span<const HalfMessage> receives,
                                      const ClockMargin& margin) {
  const std::size_t pairs = std::min(sends.size(), receives.size());
  if (pairs == 0) return {};
  std::vector<bool> sure(pairs, sends.size() == 1 && receives.size() == 1);
  if (sure.front()) return sure;
  const std::vector<std::size_t> points = quiescent_points(sends, receives, pairs, margin);
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const std::size_t begin = points[i], end = points[i + 1];
    // Sends that no receive took compete with the last ones that were taken.
    const bool last = i + 2 == points.size();
    const std::size_t sends_end = last ? sends.size() : end;
    const std::size_t receives_end = last ? receives.size() : end;
    if (is_one_queue(sends.subspan(begin, sends_end - begin)) &&
        is_one_queue(receives.subspan(begin, receives_end - begin))) {
      std::fill(sure.begin() + static_cast<std::ptrdiff_t>(begin),
                sure.begin() + static_cast<std::ptrdiff_t>(end), true);
    }
  }
  return sure;
}

}  // namespace uctrace::merge

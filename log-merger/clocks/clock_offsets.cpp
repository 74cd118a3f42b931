#include "log-merger/clocks/clock_offsets.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace uctrace::merge {

namespace {

using log::JobLine;
using log::on_line;

// For damaged logs: larger values are not times.
bool usable(const ClockMeasurement& m, std::size_t clocks) {
  const auto near = [](std::int64_t ns) { return ns >= 0 && ns < log::kFarAwayNs; };
  return m.own < clocks && m.peer < clocks && m.own != m.peer && near(m.own_ns) &&
         near(m.peer_ns) && m.round_trip_ns > 0 && near(m.round_trip_ns);
}

double between(std::int64_t from, std::int64_t to) {
  return static_cast<double>(to) - static_cast<double>(from);
}

// The measurements of one pair of clocks, as a line that maps the farther one (`peer`) onto the
// nearer.
class Pair {
 public:
  explicit Pair(std::vector<ClockMeasurement> measurements) : all_(std::move(measurements)) {
    std::sort(all_.begin(), all_.end(), [](const ClockMeasurement& a, const ClockMeasurement& b) {
      return a.peer_ns < b.peer_ns;
    });
    first_ = &all_.front();
    last_ = &all_.back();
    // A line says more than the physics of clocks only if it is long compared to its errors.
    const double length = between(first_->peer_ns, last_->peer_ns);
    if (first_->error_ns() + last_->error_ns() > kLargestRate * length) {
      first_ = last_ = &*std::min_element(all_.begin(), all_.end(), by_round_trip);
    }
  }

  bool drift_known() const { return first_ != last_; }

  JobLine line() const {
    const double rate = drift_known() ? between(offset_of(*first_), offset_of(*last_)) /
                                            between(first_->peer_ns, last_->peer_ns)
                                      : 0;
    return {.origin_ns = first_->peer_ns, .offset_ns = offset_of(*first_), .rate = rate};
  }

  // `nearer` places the nearer clock on the reference.
  ClockStretch stretch(const JobLine& nearer) const {
    const JobLine own = line();
    double off_line = 0;
    for (const ClockMeasurement& m : all_) {
      off_line = std::max(off_line, std::abs(between(on_line(own, m.peer_ns), m.own_ns)));
    }
    return {.begin_ns = on_line(nearer, first_->own_ns),
            .end_ns = on_line(nearer, last_->own_ns),
            .begin_error_ns = first_->error_ns(),
            .end_error_ns = last_->error_ns(),
            .off_line_ns = drift_known() ? off_line : 0};
  }

  void describe(PlacedClock& clock) const {
    clock.measurements = all_.size();
    for (const ClockMeasurement& m : all_) {
      clock.round_trips += m.round_trips;
    }
    clock.round_trip_ns = std::max(first_->round_trip_ns, last_->round_trip_ns);
    clock.drift_known = drift_known();
  }

 private:
  static bool by_round_trip(const ClockMeasurement& a, const ClockMeasurement& b) {
    return a.round_trip_ns < b.round_trip_ns;
  }
  static std::int64_t offset_of(const ClockMeasurement& m) { return m.own_ns - m.peer_ns; }

  std::vector<ClockMeasurement> all_;
  const ClockMeasurement *first_, *last_;
};

// First `inner`, then `outer`.
JobLine joined(const JobLine& inner, const JobLine& outer) {
  const std::int64_t at = on_line(inner, inner.origin_ns);
  return {.origin_ns = inner.origin_ns,
          .offset_ns = on_line(outer, at) - inner.origin_ns,
          .rate = inner.rate + outer.rate + inner.rate * outer.rate};
}

PlacedClock placed(std::vector<ClockMeasurement> measurements, const PlacedClock& nearer) {
  const Pair pair(std::move(measurements));
  PlacedClock clock;
  clock.line = joined(pair.line(), nearer.line);
  clock.stretches = nearer.stretches;
  clock.stretches.insert(clock.stretches.begin(), pair.stretch(nearer.line));
  pair.describe(clock);
  return clock;
}

ClockMeasurement turned(const ClockMeasurement& m) {
  return {.own = m.peer,
          .peer = m.own,
          .own_ns = m.peer_ns,
          .peer_ns = m.own_ns,
          .round_trip_ns = m.round_trip_ns,
          .round_trips = m.round_trips};
}

}  // namespace

double ClockStretch::error_at(std::int64_t reference_ns) const {
  const double length = between(begin_ns, end_ns);
  if (length <= 0) {
    return begin_error_ns + kLargestRate * std::abs(between(begin_ns, reference_ns));
  }
  const double since = between(begin_ns, reference_ns);
  const double inside = std::clamp(since, 0.0, length);
  const double outside = std::abs(since - inside);
  const double share = inside / length;
  const double open_rate = (begin_error_ns + end_error_ns) / length + kRateChange;
  return begin_error_ns * (1 - share) + end_error_ns * share + off_line_ns +
         2 * kRateChange * inside * (1 - share) + open_rate * outside;
}

double PlacedClock::error_at(std::int64_t reference_ns) const {
  double sum = 0;
  for (const ClockStretch& stretch : stretches) {
    sum += stretch.error_at(reference_ns);
  }
  return sum;
}

std::vector<std::optional<PlacedClock>> place_clocks(
    std::size_t clocks, std::size_t reference, const std::vector<ClockMeasurement>& measurements) {
  // Each pair from both ends: the asking side is not always nearer to the reference.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<ClockMeasurement>> pairs;
  for (const ClockMeasurement& m : measurements) {
    if (usable(m, clocks)) {
      pairs[{m.own, m.peer}].push_back(m);
      pairs[{m.peer, m.own}].push_back(turned(m));
    }
  }
  std::vector<std::optional<PlacedClock>> places(clocks);
  std::vector<std::size_t> reached;
  if (reference < clocks) {
    places[reference].emplace();
    reached.push_back(reference);
  }
  for (std::size_t next = 0; next < reached.size(); ++next) {
    const std::size_t own = reached[next];
    for (auto at = pairs.lower_bound({own, 0}); at != pairs.end() && at->first.first == own; ++at) {
      const std::size_t peer = at->first.second;
      if (!places[peer].has_value()) {
        places[peer] = placed(at->second, *places[own]);
        reached.push_back(peer);
      }
    }
  }
  return places;
}

}  // namespace uctrace::merge

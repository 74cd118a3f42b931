#include "log-merger/simulate/even_partitions.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "log-merger/simulate/recorded_calls.hpp"

namespace uctrace {

namespace {

// For one use: when each thread made its last partition ready, and the common time after balancing,
// per thread or partition.
struct LastReady {
  std::map<std::uint16_t, std::int64_t> of_lanes;
  std::map<std::int64_t, std::int64_t> of_evened;
};

template <typename Key>
void add_later(std::map<Key, std::int64_t>& last, Key key, std::int64_t ns) {
  const auto [place, fresh] = last.try_emplace(key, ns);
  if (!fresh) place->second = std::max(place->second, ns);
}

// By use.
std::map<std::int64_t, LastReady> last_ready(const RowSource& source, EvenPartitions by) {
  std::map<std::int64_t, LastReady> last;
  const Wanted<PartitionEvent> wanted = {&PartitionEvent::kind, &PartitionEvent::lane,
                                         &PartitionEvent::operation, &PartitionEvent::partition,
                                         &PartitionEvent::t_ns};
  for_each_row(source, wanted, [&](const PartitionEvent& event, std::size_t) {
    if (event.kind != PartitionEventKind::pready || event.operation < 0 || event.t_ns < 0) return;
    const std::uint16_t lane = lane_of(event.lane);
    const std::int64_t evened =
        by == EvenPartitions::threads ? std::int64_t{lane} : std::int64_t{event.partition};
    LastReady& of_use = last[event.operation];
    add_later(of_use.of_lanes, lane, event.t_ns);
    add_later(of_use.of_evened, evened, event.t_ns);
  });
  return last;
}

void join_overlapping(std::vector<EvenedSpan>& spans) {
  std::sort(spans.begin(), spans.end(),
            [](const EvenedSpan& a, const EvenedSpan& b) { return a.from_ns < b.from_ns; });
  std::vector<EvenedSpan> joined;
  for (const EvenedSpan& span : spans) {
    if (joined.empty() || span.from_ns >= joined.back().to_ns) {
      joined.push_back(span);
    } else {
      joined.back().to_ns = std::max(joined.back().to_ns, span.to_ns);
      joined.back().factor = std::max(joined.back().factor, span.factor);
    }
  }
  spans = std::move(joined);
}

void add_spans(EvenedPartitions& evened, std::uint32_t process, std::int64_t start_ns,
               const LastReady& ready) {
  double sum = 0;
  for (const auto& [who, ns] : ready.of_evened) sum += static_cast<double>(ns - start_ns);
  const double mean = sum / static_cast<double>(ready.of_evened.size());
  for (const auto& [lane, ns] : ready.of_lanes) {
    if (ns <= start_ns) continue;
    evened.spans[{process, lane}].push_back(
        {start_ns, ns, std::max(0.0, mean / static_cast<double>(ns - start_ns))});
  }
}

}  // namespace

EvenedPartitions evened_partitions(const RowSource& source, EvenPartitions by) {
  const Run& run = source.run();
  EvenedPartitions evened;
  const std::map<std::int64_t, LastReady> last = last_ready(source, by);
  for_each_row(source, Wanted<PartitionOperation>::all(),
               [&](const PartitionOperation& use, std::size_t number) {
                 if (use.request < 0) return;
                 const PartitionRequest& request =
                     run.partition_requests[static_cast<std::size_t>(use.request)];
                 if (!request.sends) return;
                 ++evened.uses;
                 const auto ready = last.find(static_cast<std::int64_t>(number));
                 if (use.t_ready_ns < 0 || use.t_start_ns < 0 || use.t_ready_ns <= use.t_start_ns ||
                     use.ready < request.partitions || ready == last.end()) {
                   ++evened.unknown;
                   return;
                 }
                 if (ready->second.of_evened.size() < 2) {
                   ++evened.alone;
                   return;
                 }
                 add_spans(evened, request.process, use.t_start_ns, ready->second);
               });
  for (auto& of_thread : evened.spans) join_overlapping(of_thread.second);
  return evened;
}

std::int64_t evened_ns(const std::vector<EvenedSpan>& spans, std::int64_t from_ns,
                       std::int64_t to_ns) {
  auto span = std::partition_point(spans.begin(), spans.end(),
                                   [&](const EvenedSpan& one) { return one.to_ns <= from_ns; });
  double saved = 0;
  for (; span != spans.end() && span->from_ns < to_ns; ++span) {
    const std::int64_t common = std::min(span->to_ns, to_ns) - std::max(span->from_ns, from_ns);
    saved += static_cast<double>(common) * (1 - span->factor);
  }
  return to_ns - from_ns - std::llround(saved);
}

}  // namespace uctrace

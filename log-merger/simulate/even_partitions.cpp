#include "log-merger/simulate/even_partitions.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace uctrace {

namespace {

// By use, and thread or partition: when it made its last partition ready, or became so.
using LastReady = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

LastReady last_ready(const RowSource& source, EvenPartitions by) {
  LastReady last;
  const Wanted<PartitionEvent> wanted = {&PartitionEvent::kind, &PartitionEvent::lane,
                                         &PartitionEvent::operation, &PartitionEvent::partition,
                                         &PartitionEvent::t_ns};
  for_each_row(source, wanted, [&](const PartitionEvent& event, std::size_t) {
    if (event.kind != PartitionEventKind::pready || event.operation < 0 || event.t_ns < 0) return;
    const std::int64_t who =
        by == EvenPartitions::threads ? std::int64_t{event.lane} : std::int64_t{event.partition};
    const auto [place, fresh] = last.try_emplace({event.operation, who}, event.t_ns);
    if (!fresh) place->second = std::max(place->second, event.t_ns);
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

}  // namespace

EvenedPartitions evened_partitions(const RowSource& source, EvenPartitions by) {
  const Run& run = source.run();
  EvenedPartitions evened;
  evened.spans.resize(run.processes.size());
  const LastReady last = last_ready(source, by);
  for_each_row(source, Wanted<PartitionOperation>::all(),
               [&](const PartitionOperation& use, std::size_t number) {
                 if (use.request < 0) return;
                 const PartitionRequest& request =
                     run.partition_requests[static_cast<std::size_t>(use.request)];
                 if (!request.sends) return;
                 ++evened.uses;
                 const std::int64_t whole_ns = use.t_ready_ns - use.t_start_ns;
                 if (use.t_ready_ns < 0 || use.t_start_ns < 0 || whole_ns <= 0 ||
                     use.ready < request.partitions) {
                   ++evened.unknown;
                   return;
                 }
                 double sum = 0;
                 std::size_t count = 0;
                 const auto key = static_cast<std::int64_t>(number);
                 for (auto one = last.lower_bound({key, INT64_MIN});
                      one != last.end() && one->first.first == key; ++one) {
                   sum += static_cast<double>(one->second - use.t_start_ns);
                   ++count;
                 }
                 if (count < 2) {
                   ++evened.alone;
                   return;
                 }
                 const double mean = sum / static_cast<double>(count);
                 evened.spans[request.process].push_back(
                     {use.t_start_ns, use.t_ready_ns,
                      std::clamp(mean / static_cast<double>(whole_ns), 0.0, 1.0)});
               });
  for (auto& of_process : evened.spans) join_overlapping(of_process);
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

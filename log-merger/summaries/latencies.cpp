#include "log-merger/summaries/latencies.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_set>

#include "log-merger/model/reach.hpp"
#include "log-merger/model/size_class.hpp"
#include "log-merger/summaries/numbers.hpp"

namespace uctrace {
namespace {

class LatencySums {
 public:
  explicit LatencySums(const Run& run) : run_(run) {}

  static Wanted<Message> of_messages() {
    using M = Message;
    return {&M::kind,        &M::protocol,         &M::bytes,      &M::src_process,
            &M::dst_process, &M::t_posted_recv_ns, &M::t_start_ns, &M::t_end_ns};
  }

  // Every message in order: even one that does not count may be the first between its ends.
  void add(const Message& message, bool counts) {
    const bool first = is_first(message);
    if (!counts) return;
    const auto latency = latency_of(message);
    LatencySum row;
    row.kind = message.kind;
    row.reach = reach_of(run_, message.src_process, message.dst_process);
    row.size = size_class(message.bytes);
    row.first = first;
    row.timed = latency.has_value();
    row.latency_class = latency_class(latency.value_or(0));
    row.protocol = message.protocol;
    const auto [number, is_new] = numbers_.of(summaries::key_of(
        row.kind, row.reach, row.size, row.first, row.timed, row.latency_class, row.protocol));
    if (is_new) sums_.push_back(row);
    ++sums_[number].messages;
    sums_[number].bytes += message.bytes;
    sums_[number].ns += latency.value_or(0);
  }

  std::vector<LatencySum> finish() && { return std::move(sums_); }

 private:
  bool is_first(const Message& message) {
    if (message.src_process < 0 || message.dst_process < 0) return false;
    const auto src = static_cast<std::uint64_t>(message.src_process);
    return met_.insert(src << 32 | static_cast<std::uint32_t>(message.dst_process)).second;
  }

  const Run& run_;
  summaries::Numbers<summaries::Key<7>> numbers_;
  std::vector<LatencySum> sums_;
  std::unordered_set<std::uint64_t> met_;  // source << 32 | destination
};

}  // namespace

std::vector<LatencySum> latency_sums(const RowSource& source, const Filter& filter) {
  if (filter.takes_all() && !source.run().latency_sums.empty()) return source.run().latency_sums;
  LatencySums sums(source.run());
  for_each_message(source, LatencySums::of_messages() | filter.of_messages(), filter.of_paths(),
                   [&](const Message& message, std::span<const Hop> path, std::size_t) {
                     sums.add(message, filter.selects(message, path));
                   });
  return std::move(sums).finish();
}

void Latencies::add(const LatencySum& sum) {
  messages_ += sum.messages;
  bytes_ += sum.bytes;
  if (!sum.timed) return;
  timed_ += sum.messages;
  timed_bytes_ += sum.bytes;
  ns_ += sum.ns;
  if (counts_.size() <= sum.latency_class) counts_.resize(sum.latency_class + std::size_t{1});
  counts_[sum.latency_class] += sum.messages;
}

double Latencies::quantile(double part) const {
  const auto rank = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(timed_))));
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    before += counts_[i];
    if (before >= rank) return latency_of(static_cast<std::uint16_t>(i));
  }
  return 0;
}

LatencyFigures figures_of(const Latencies& latencies) {
  constexpr double kSecond = 1e9;
  const auto rounded = [](double number) {
    constexpr double kMost = 9e18;
    return static_cast<std::uint64_t>(std::llround(std::min(number, kMost)));
  };
  LatencyFigures figures{.messages = latencies.messages(),
                         .bytes = latencies.bytes(),
                         .untimed = latencies.messages() - latencies.timed()};
  if (latencies.timed() == 0) return figures;
  figures.median_ns = rounded(latencies.quantile(0.5));
  figures.p99_ns = rounded(latencies.quantile(0.99));
  if (latencies.ns() > 0 && latencies.timed_bytes() > 0) {
    figures.per_second_bytes = rounded(static_cast<double>(latencies.timed_bytes()) /
                                       static_cast<double>(latencies.ns()) * kSecond);
  }
  return figures;
}

std::vector<ProtocolSize> by_protocol_and_size(const Run& run,
                                               const std::vector<LatencySum>& sums) {
  std::map<std::tuple<TextId, Reach, std::uint8_t>, ProtocolSize> rows;
  std::map<TextId, std::uint64_t> bytes, messages;
  for (const LatencySum& sum : sums) {
    ProtocolSize& row = rows[{sum.protocol, sum.reach, sum.size}];
    std::tie(row.protocol, row.reach, row.size) = std::tie(sum.protocol, sum.reach, sum.size);
    row.all.add(sum);
    (sum.first ? row.first : row.later).add(sum);
    bytes[sum.protocol] += sum.bytes;
    messages[sum.protocol] += sum.messages;
  }
  std::vector<ProtocolSize> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
    const auto rank = [&](const ProtocolSize& row) {
      return std::make_tuple(~bytes[row.protocol], ~messages[row.protocol], run.texts[row.protocol],
                             row.reach, row.size);
    };
    return rank(a) < rank(b);
  });
  return sorted;
}

std::optional<Estimate> estimate_of(const Run& run, const ProtocolSize& size) {
  const std::uint64_t messages = std::max<std::uint64_t>(1, size.all.messages());
  return estimate_of(run, size.reach,
                     static_cast<double>(size.all.bytes()) / static_cast<double>(messages));
}

namespace merge {

void lay_out_latencies(Run& run) {
  LatencySums sums(run);
  for (const Message& message : run.messages) sums.add(message, true);
  run.latency_sums = std::move(sums).finish();
}

}  // namespace merge
}  // namespace uctrace

// Latencies of messages by protocol, size and reach: sums stored by a merge, and their quantiles.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "log-merger/model/latency.hpp"
#include "log-merger/model/model.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/estimates.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

// For the messages selected by the filter: the run's stored sums if all are selected, else from the
// rows.
std::vector<LatencySum> latency_sums(const RowSource& source, const Filter& filter);

// Aggregated times of messages.
class Latencies {
 public:
  void add(const LatencySum& sum);

  std::uint64_t messages() const { return messages_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t timed() const { return timed_; }  // of the messages
  std::uint64_t timed_bytes() const { return timed_bytes_; }
  std::uint64_t ns() const { return ns_; }  // of these, added up

  // The quantile of the timed messages (nearest rank), within 1/64: 0.5 is the median. 0 if none is
  // timed.
  double quantile(double part) const;

 private:
  std::uint64_t messages_ = 0, bytes_ = 0, timed_ = 0, timed_bytes_ = 0, ns_ = 0;
  std::vector<std::uint64_t> counts_;  // by latency_class()
};

// The displayed figures.
struct LatencyFigures {
  std::uint64_t messages = 0, bytes = 0, untimed = 0;
  // nullopt: none is timed.
  std::optional<std::uint64_t> median_ns = {}, p99_ns = {};
  // Rate of messages in flight: the payload of timed messages divided by their latencies. nullopt:
  // no payload, or no time.
  std::optional<std::uint64_t> per_second_bytes = {};
};
LatencyFigures figures_of(const Latencies& latencies);

// Messages of one protocol, reach and class of sizes.
struct ProtocolSize {
  TextId protocol = kNoText;
  Reach reach = Reach::unknown;
  std::uint8_t size = 0;  // size_class()
  Latencies all;
  Latencies first;  // part of `all`: the first message from each source to each destination
  Latencies later;  // and the others
};
// By protocol, largest payload first, then by reach and size.
std::vector<ProtocolSize> by_protocol_and_size(const Run& run, const std::vector<LatencySum>& sums);

// What UCX expects of these messages, for the mean of their lengths. nullopt: it is not known.
std::optional<Estimate> estimate_of(const Run& run, const ProtocolSize& size);

namespace merge {

// Fills Run::latency_sums of a run that has its messages.
void lay_out_latencies(Run& run);

}  // namespace merge
}  // namespace uctrace

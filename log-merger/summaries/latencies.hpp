// Latencies of messages by protocol, size and reach: sums that a merge keeps, and quantiles of
// them.
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

// Of the messages that the filter selects: what the run keeps, where all are asked for, else the
// rows are read.
std::vector<LatencySum> latency_sums(const RowSource& source, const Filter& filter);

// Times of messages that somebody takes together.
class Latencies {
 public:
  void add(const LatencySum& sum);

  std::uint64_t messages() const { return messages_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t timed() const { return timed_; }  // of the messages
  std::uint64_t timed_bytes() const { return timed_bytes_; }
  std::uint64_t ns() const { return ns_; }  // of these, added up

  // The least latency that so much of the timed messages do not exceed (nearest rank), within 1/64
  // of it: 0.5 is the median. 0 where none is timed.
  double quantile(double part) const;

 private:
  std::uint64_t messages_ = 0, bytes_ = 0, timed_ = 0, timed_bytes_ = 0, ns_ = 0;
  std::vector<std::uint64_t> counts_;  // by latency_class()
};

// What is shown of them.
struct LatencyFigures {
  std::uint64_t messages = 0, bytes = 0, untimed = 0;
  // nullopt: none is timed.
  std::optional<std::uint64_t> median_ns = {}, p99_ns = {};
  // Of messages on their way: the payload of those that are timed by their latencies. nullopt:
  // there is no payload, or no time.
  std::optional<std::uint64_t> per_second_bytes = {};
};
LatencyFigures figures_of(const Latencies& latencies);

// Messages of one protocol, reach and class of sizes.
struct ProtocolSize {
  TextId protocol = kNoText;
  Reach reach = Reach::unknown;
  std::uint8_t size = 0;  // size_class()
  Latencies all;
  Latencies first;  // of `all`: the first message from each source to each destination
  Latencies later;  // and the others
};
// By protocol, greatest payload first, then by reach and size.
std::vector<ProtocolSize> by_protocol_and_size(const Run& run, const std::vector<LatencySum>& sums);

// What UCX expects of these messages, for the mean of their lengths. nullopt: it is not known.
std::optional<Estimate> estimate_of(const Run& run, const ProtocolSize& size);

namespace merge {

// Fills Run::latency_sums of a run that has its messages.
void lay_out_latencies(Run& run);

}  // namespace merge
}  // namespace uctrace

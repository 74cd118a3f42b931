// Quantiles of latency classes, compared with those of all sorted latencies.
#include "log-merger/summaries/latencies.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "log-merger/reports/protocol_table.hpp"
#include "tests/unit/sample_runs.hpp"

namespace uctrace {
namespace {

TEST_CASE("a class of latencies is within 1/64 of each of them, and classes are in order") {
  Random random(1);
  std::uint16_t last = 0;
  for (std::uint64_t ns = 0; ns < 5000; ++ns) {
    const std::uint16_t of_class = latency_class(ns);
    CHECK(of_class >= last);
    CHECK(of_class - last <= 1);
    last = of_class;
  }
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t ns = random() >> below(random, 64);
    const double shown = latency_of(latency_class(ns));
    CHECK(std::abs(shown - static_cast<double>(ns)) <= static_cast<double>(ns) / 64);
  }
}

Run timed_messages(std::uint64_t seed) {
  Random random(seed);
  Run run = random_run(seed);
  for (Message& message : run.messages) {
    message.t_start_ns = static_cast<std::int64_t>(below(random, 1000)) - 1;
    message.t_posted_recv_ns = static_cast<std::int64_t>(below(random, 2000)) - 1;
    message.t_end_ns = static_cast<std::int64_t>(below(random, 100'000)) - 1;
  }
  return run;
}

TEST_CASE("quantiles, sums and counts are those of the messages") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Run run = timed_messages(seed);
    std::vector<std::uint64_t> naive;
    std::uint64_t bytes = 0;
    for (const Message& message : run.messages) {
      bytes += message.bytes;
      if (message.t_start_ns < 0 || message.t_end_ns < 0) continue;
      const std::int64_t both = std::max(message.t_start_ns, message.t_posted_recv_ns);
      naive.push_back(
          static_cast<std::uint64_t>(message.t_end_ns < both ? 0 : message.t_end_ns - both));
    }
    std::sort(naive.begin(), naive.end());
    Latencies all;
    for (const LatencySum& sum : latency_sums(run, Filter(run, {}))) all.add(sum);
    REQUIRE(all.messages() == run.messages.size());
    CHECK(all.bytes() == bytes);
    REQUIRE(all.timed() == naive.size());
    for (const double part : {0.01, 0.5, 0.99, 1.0}) {
      const auto rank = static_cast<std::size_t>(
          std::max(1.0, std::ceil(part * static_cast<double>(naive.size()))));
      const auto exact = static_cast<double>(naive[rank - 1]);
      CHECK(std::abs(all.quantile(part) - exact) <= exact / 64);
    }
  }
}

TEST_CASE("what a run keeps is what its rows give, and a filter chooses among the rows") {
  Run run = timed_messages(7);
  const auto of_rows = latency_sums(run, Filter(run, {}));
  merge::lay_out_latencies(run);
  REQUIRE(run.latency_sums.size() == of_rows.size());
  const auto count = [&](const std::vector<LatencySum>& sums) {
    std::uint64_t messages = 0;
    for (const LatencySum& sum : sums) messages += sum.messages;
    return messages;
  };
  CHECK(count(run.latency_sums) == run.messages.size());
  FilterSpec spec;
  spec.protocol = {"rndv/get"};
  const TextId protocol = run.texts.find("rndv/get");
  const auto chosen = static_cast<std::uint64_t>(
      std::count_if(run.messages.begin(), run.messages.end(),
                    [&](const Message& message) { return message.protocol == protocol; }));
  CHECK(count(latency_sums(run, Filter(run, spec))) == chosen);
}

TEST_CASE("the first message from each process to each other is told apart") {
  const Run run = timed_messages(3);
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  for (const Message& message : run.messages) {
    if (message.src_process >= 0 && message.dst_process >= 0) {
      pairs.emplace(message.src_process, message.dst_process);
    }
  }
  std::uint64_t first = 0;
  for (const LatencySum& sum : latency_sums(run, Filter(run, {}))) {
    if (sum.first) first += sum.messages;
  }
  CHECK(first == pairs.size());
}

TEST_CASE("rows by protocol and size add up to those by protocol") {
  const Run run = timed_messages(5);
  const auto sums = latency_sums(run, Filter(run, {}));
  const auto total = [](const Table& table, std::size_t column) {
    std::uint64_t sum = 0;
    for (const auto& row : table.rows) sum += std::get<std::uint64_t>(row[column]);
    return sum;
  };
  const Table by_protocol = protocol_table(run, sums), by_size = protocol_size_table(run, sums);
  CHECK(by_protocol.rows.size() == 3);
  CHECK(total(by_protocol, 1) == run.messages.size());
  CHECK(total(by_size, 4) == run.messages.size());
  CHECK(total(by_size, 5) == total(by_protocol, 2));
}

}  // namespace
}  // namespace uctrace

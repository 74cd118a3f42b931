// What UCX expects of messages: the formula by hand, and of the endpoints of a job.
#include "log-merger/connections/estimates.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "log-merger/summaries/estimates.hpp"
#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using namespace test;

constexpr double kMicrosecond = 1e-6, kGigabyte = 1e9;

constexpr log::InterfaceSpeed speed_of(double latency_s, double own_bandwidth) {
  return {latency_s, 0, own_bandwidth, 0};
}

TEST_CASE("latency grows with the endpoints of the job, and processes share what they share") {
  const log::InterfaceSpeed speed{.latency_s = 2 * kMicrosecond,
                                  .latency_per_endpoint_s = kMicrosecond / 100,
                                  .own_bandwidth = 3 * kGigabyte,
                                  .shared_bandwidth = 8 * kGigabyte};
  const auto alone = expected_of(speed, {1, 1}), many = expected_of(speed, {100, 4});
  REQUIRE((alone && many));
  CHECK(alone->latency_s == doctest::Approx(2.01e-6));
  CHECK(alone->bandwidth == doctest::Approx(11e9));
  CHECK(many->latency_s == doctest::Approx(3e-6));
  CHECK(many->bandwidth == doctest::Approx(5e9));
}

TEST_CASE("nothing is expected where a number is missing or makes no sense") {
  const log::InterfaceSpeed good = speed_of(1, 1);
  CHECK(expected_of(good, {1, 1}));
  CHECK_FALSE(expected_of(good, {0, 1}));
  CHECK_FALSE(expected_of(good, {1, 0}));
  CHECK_FALSE(expected_of({}, {1, 1}));
  for (const double bad :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    CHECK_FALSE(expected_of(speed_of(bad, 1), {1, 1}));
    CHECK_FALSE(expected_of(speed_of(1, bad), {1, 1}));
  }
}

// Two ranks of one host, and endpoints of the first to both, with lanes.
struct TwoRanks {
  JobBuilder builder{2};
  static constexpr std::uint64_t kWorker = 0x77;

  TwoRanks() {
    for (int rank = 0; rank < 2; ++rank) {
      builder.job.run.processes.push_back({});
    }
    ProcessLog& log = builder.log(0);
    log.workers.push_back(
        {.handle = kWorker, .tick = 5, .estimated_endpoints = 2, .estimated_processes_of_node = 2});
    log.interfaces[InterfaceIndex(0)].worker = kWorker;
    log.interfaces[InterfaceIndex(0)].worker_tick = 5;
    log.interfaces[InterfaceIndex(0)].speed = speed_of(kMicrosecond, kGigabyte);
    Interface fast = log.interfaces[InterfaceIndex(0)];
    fast.speed = {3 * kMicrosecond, 0, 4 * kGigabyte, 2 * kGigabyte};
    log.interfaces.push_back(fast);
  }

  void endpoint(std::uint64_t begin, std::uint64_t end, int peer) {
    UcpEndpoint row;
    row.worker = kWorker;
    row.begin_tick = begin;
    row.tick = end;
    row.peer.process = ProcessIndex(peer);
    builder.log(0).ucp_endpoints.push_back(row);
  }
  void lane(std::uint64_t tick, int interface) {
    Endpoint row;
    row.tick = tick;
    row.interface = InterfaceIndex(interface);
    builder.log(0).endpoints.push_back(row);
  }
  void set(const char* name, const char* value) {
    Run& run = builder.job.run;
    run.settings.push_back(
        {run.texts.intern(name), run.texts.intern(value), SettingFrom::environment, 0, 2});
  }
  const Run& made() {
    add_estimates(builder.job, ucp_endpoints_of(builder.job));
    return builder.job.run;
  }
};

TEST_CASE("of the lanes made with an endpoint, the one of the greatest bandwidth counts") {
  TwoRanks ranks;
  ranks.endpoint(10, 20, 1);
  ranks.lane(12, 0);
  ranks.lane(15, 1);
  ranks.endpoint(30, 40, 0);
  ranks.lane(33, 0);
  ranks.lane(50, 1);  // UCX made it later: it is not known for which endpoint
  const Run& run = ranks.made();
  REQUIRE(run.estimates.size() == 2);
  CHECK(run.estimates[0].reach == Reach::process);
  CHECK(run.estimates[0].latency_ps == 1'000'000);
  CHECK(run.estimates[0].per_second_bytes == 1'000'000'000);
  CHECK(run.estimates[1].reach == Reach::host);
  CHECK(run.estimates[1].latency_ps == 3'000'000);
  CHECK(run.estimates[1].per_second_bytes == 5'000'000'000);
  CHECK(run.estimates[1].endpoints == 1);
  const auto expected = estimate_of(run, Reach::host, 10'000);
  REQUIRE(expected);
  CHECK(expected->least_ns == 5000);
  CHECK(expected->most_ns == 5000);
  CHECK_FALSE(estimate_of(run, Reach::network, 10'000));
}

TEST_CASE("endpoints that differ give the least and the most") {
  TwoRanks ranks;
  ranks.endpoint(10, 20, 1);
  ranks.lane(12, 0);
  ranks.endpoint(30, 40, 1);
  ranks.lane(33, 1);
  ranks.endpoint(50, 60, 1);
  ranks.lane(55, 1);
  const Run& run = ranks.made();
  REQUIRE(run.estimates.size() == 2);
  CHECK(run.estimates[0].endpoints + run.estimates[1].endpoints == 3);
  const auto small = estimate_of(run, Reach::host, 0), large = estimate_of(run, Reach::host, 1e6);
  REQUIRE((small && large));
  CHECK(small->least_ns == 1000);
  CHECK(small->most_ns == 3000);
  CHECK(large->least_ns == 203'000);
  CHECK(large->most_ns == 1'001'000);
}

TEST_CASE("what a user sets counts before what the program tells, and auto leaves it") {
  TwoRanks set, left, all, bad;
  for (TwoRanks* ranks : {&set, &left, &all, &bad}) {
    ranks->endpoint(10, 20, 1);
    ranks->lane(12, 1);
  }
  set.set("UCX_NUM_PPN", "1");
  left.set("UCX_NUM_PPN", "Auto");
  all.set("UCX_NUM_PPN", "inf");
  bad.set("UCX_NUM_PPN", "many");
  CHECK(set.made().estimates.front().per_second_bytes == 6'000'000'000);
  CHECK(left.made().estimates.front().per_second_bytes == 5'000'000'000);
  CHECK(all.made().estimates.front().per_second_bytes == 4'000'000'000);  // its own alone
  CHECK(bad.made().estimates.empty());
}

}  // namespace
}  // namespace uctrace::merge

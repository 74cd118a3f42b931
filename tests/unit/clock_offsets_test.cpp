// Clocks that are placed by measurements, against clocks whose truth is known.
#include "log-merger/clocks/clock_offsets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "log-merger/merge.hpp"
#include "tests/unit/log_builder.hpp"

namespace uctrace::merge::test {
namespace {

constexpr std::int64_t kMs = 1'000'000, kS = 1000 * kMs;

// A clock that was `ahead_ns` ahead of the true one at its zero, and runs `rate` too fast.
struct TrueClock {
  std::int64_t ahead_ns = 0;
  double rate = 0;

  std::int64_t at(std::int64_t truth) const {
    return truth + ahead_ns + std::llround(rate * static_cast<double>(truth));
  }
};

// The result of a ping-pong at a true time, whose ways take `there` and `back`.
ClockMeasurement measured(std::size_t own, const TrueClock& clock, std::size_t peer,
                          const TrueClock& peer_clock, std::int64_t truth, std::int64_t there,
                          std::int64_t back) {
  const std::int64_t sent = clock.at(truth), came = clock.at(truth + there + back);
  return {.own = own,
          .peer = peer,
          .own_ns = sent + (came - sent) / 2,
          .peer_ns = peer_clock.at(truth + there),
          .round_trip_ns = came - sent + 1,
          .round_trips = 30};
}

// The largest error of `clock` on the reference, as a fraction of the reported error; 1 is the
// limit.
double worst_share(const PlacedClock& place, const TrueClock& clock, const TrueClock& reference,
                   std::int64_t begin, std::int64_t end) {
  double worst = 0;
  for (int i = 0; i <= 100; ++i) {
    const std::int64_t truth = begin + (end - begin) / 100 * i;
    const std::int64_t at = reference.at(truth);
    const auto off = static_cast<double>(std::abs(log::on_line(place.line, clock.at(truth)) - at));
    worst = std::max(worst, off / (place.error_at(at) + 2));  // of the last digits
  }
  return worst;
}

}  // namespace

TEST_CASE("clock offsets: two measurements give a line that holds its bound everywhere") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 500; ++round) {
    const auto drift = [&] {
      return (static_cast<double>(random() % 1001) / 500 - 1) * 45e-6;  // between two: 90 ppm
    };
    const TrueClock zero{static_cast<std::int64_t>(random() % 100) * kS, drift()};
    const TrueClock one{100 * kS, drift()};
    const auto delay = [&] { return static_cast<std::int64_t>(1000 + random() % 100'000); };
    const std::int64_t end = 10 * kS + static_cast<std::int64_t>(random() % 100) * kS;
    const auto places = place_clocks(2, 0,
                                     {measured(0, zero, 1, one, 0, delay(), delay()),
                                      measured(0, zero, 1, one, end, delay(), delay())});
    REQUIRE(places[1].has_value());
    CHECK(places[0]->stretches.empty());
    CHECK(places[1]->drift_known);
    CHECK(worst_share(*places[1], one, zero, -end, 2 * end) <= 1);
    CHECK(std::abs(-places[1]->line.rate - (one.rate - zero.rate)) <= 30e-6);
  }
}

TEST_CASE("clock offsets: all of the delay on one way is within the bound, and not much less") {
  const TrueClock zero{}, one{4000 * kS, 20e-6};
  const auto places = place_clocks(
      2, 0,
      {measured(0, zero, 1, one, kS, 100'000, 0), measured(0, zero, 1, one, 9 * kS, 100'000, 0)});
  CHECK(worst_share(*places[1], one, zero, kS, 9 * kS) <= 1);
  CHECK(worst_share(*places[1], one, zero, kS, 9 * kS) > 0.9);
  CHECK(places[1]->line.rate * 1e6 == doctest::Approx(-20).epsilon(0.01));
}

TEST_CASE("clock offsets: one measurement, or two that are close, leave the rate open") {
  const TrueClock zero{}, one{-5 * kS, -80e-6};
  std::vector<ClockMeasurement> measurements{measured(0, zero, 1, one, 10 * kS, 5000, 5000)};
  SUBCASE("one") {}
  SUBCASE("two") {
    measurements.push_back(measured(0, zero, 1, one, 10 * kS + 10 * kMs, 900'000, 10));
  }
  const auto places = place_clocks(2, 0, measurements);
  CHECK_FALSE(places[1]->drift_known);
  CHECK(places[1]->line.rate == 0);
  CHECK(places[1]->error_at(10 * kS) < 7000);
  CHECK(worst_share(*places[1], one, zero, 10 * kS, 20 * kS) <= 1);
  CHECK(places[1]->error_at(20 * kS) == doctest::Approx(1e6).epsilon(0.02));
}

TEST_CASE("clock offsets: a third measurement shows a rate that changed") {
  const TrueClock zero{}, one{};
  auto middle = measured(0, zero, 1, one, 5 * kS, 1000, 1000);
  middle.own_ns += 40'000;
  const auto places = place_clocks(2, 0,
                                   {measured(0, zero, 1, one, 0, 1000, 1000), middle,
                                    measured(0, zero, 1, one, 10 * kS, 1000, 1000)});
  CHECK(places[1]->measurements == 3);
  CHECK(places[1]->error_at(5 * kS) >= 40'000);
  CHECK(places[1]->error_at(5 * kS) < 45'000);
}

TEST_CASE("clock offsets: over other clocks, whoever asked whom") {
  const TrueClock clocks[] = {{}, {100 * kS, 20e-6}, {7000 * kS, -20e-6}, {3 * kS, 5e-6}};
  std::vector<ClockMeasurement> measurements;
  for (const std::int64_t truth : {kS, 9 * kS}) {
    measurements.push_back(measured(1, clocks[1], 0, clocks[0], truth, 5000, 1000));
    measurements.push_back(measured(1, clocks[1], 2, clocks[2], truth, 1000, 9000));
  }
  const auto places = place_clocks(4, 0, measurements);
  REQUIRE(places[2].has_value());
  CHECK(places[2]->stretches.size() == 2);
  CHECK(worst_share(*places[1], clocks[1], clocks[0], 0, 20 * kS) <= 1);
  CHECK(worst_share(*places[2], clocks[2], clocks[0], 0, 20 * kS) <= 1);
  CHECK(places[2]->error_at(kS) > places[1]->error_at(kS));
  CHECK_FALSE(places[3].has_value());
}

TEST_CASE("clock offsets: nonsense is left out, and far times stay within their bounds") {
  ClockMeasurement good{.own = 0, .peer = 1, .own_ns = 5, .peer_ns = 5, .round_trip_ns = 2};
  for (const auto& change :
       {+[](ClockMeasurement& m) { m.peer = 0; }, +[](ClockMeasurement& m) { m.peer = 9; },
        +[](ClockMeasurement& m) { m.own_ns = -1; },
        +[](ClockMeasurement& m) { m.peer_ns = INT64_MAX; },
        +[](ClockMeasurement& m) { m.round_trip_ns = 0; }}) {
    ClockMeasurement bad = good;
    change(bad);
    CHECK_FALSE(place_clocks(2, 0, {bad})[1].has_value());
  }
  CHECK(place_clocks(2, 5, {good}).size() == 2);
  const log::JobLine steep{.origin_ns = 0, .offset_ns = 10, .rate = 1e300};
  CHECK(log::on_line(steep, INT64_MAX) == log::kFarAwayNs);
  CHECK(log::on_line({.offset_ns = INT64_MIN}, -5) == -log::kFarAwayNs);
  CHECK(log::on_line({.origin_ns = INT64_MIN, .rate = -1e-4}, INT64_MAX) <= log::kFarAwayNs);
}

namespace {

// A process of another kernel, whose monotonic clock began `ahead_ns` earlier and whose wall clock
// is wrong by a minute.
log::LogFile process(int rank, std::int64_t ahead_ns,
                     const std::vector<log::ClockSample>& samples) {
  log::test::LogBuilder log;
  log.page.boot_id[0] = static_cast<char>('a' + rank);
  log.page.host[4] = static_cast<char>('1' + rank);
  log.page.world_rank = rank;
  log.page.world_size = 2;
  log.page.pid = static_cast<std::uint32_t>(17 + rank);
  for (std::uint32_t i = 0; i < log.page.anchor_count; ++i) {
    log.page.anchors[i].monotonic_ns += static_cast<std::uint64_t>(ahead_ns);
    log.page.anchors[i].realtime_ns += static_cast<std::uint64_t>(1000 * kS + rank * 60 * kS);
  }
  log.chunk(log::Stream::definitions, 0, 1);
  for (const log::ClockSample& sample : samples) log.add(sample, log::RecordType::clock_sample);
  return log.read();
}

nlohmann::json clock_of(std::vector<log::LogFile> files) {
  LogSet logs;
  logs.files = std::move(files);
  return nlohmann::json::parse(merge_logs(std::move(logs), {}).info_json)["clock"];
}

}  // namespace

TEST_CASE("clock offsets: the samples of the logs place their hosts") {
  log::ClockSample sample{};
  sample.head.b = 30;
  sample.own_ns = 5000;
  sample.peer_ns = static_cast<std::uint64_t>(70 * kS) + 5000;
  sample.round_trip_ns = 800;
  std::vector<log::LogFile> files;
  const log::LogFile probe = process(1, 70 * kS, {});
  sample.peer_clock = probe.clock_name();
  files.push_back(process(0, 0, {sample}));
  files.push_back(process(1, 70 * kS, {}));
  const nlohmann::json clock = clock_of(std::move(files));
  CHECK(clock["hosts_aligned_by"] == "measured");
  CHECK(clock["hosts"][0]["by"] == "same clock");
  CHECK(clock["hosts"][1]["by"] == "measured");
  CHECK(clock["hosts"][1]["offset_ns"] == -70 * kS);
  CHECK(clock["hosts"][1]["drift_ppm"].is_null());
  CHECK(clock["hosts"][1]["round_trips"] == 30);
  CHECK(clock["hosts"][1]["error_ns"] == 400);
  // 100 ppm of the millisecond that the run lasted.
  CHECK(clock["max_error_ns"] == doctest::Approx(500).epsilon(0.01));

  std::vector<log::LogFile> unmeasured;
  unmeasured.push_back(process(0, 0, {}));
  unmeasured.push_back(process(1, 70 * kS, {}));
  const nlohmann::json without = clock_of(std::move(unmeasured));
  CHECK(without["hosts_aligned_by"] == "wall clock");
  CHECK(without["max_error_ns"].is_null());
  CHECK(without["hosts"][1]["by"] == "wall clock");
  CHECK(without["hosts"][1]["why"].get<std::string>().starts_with("no process measured"));
}

TEST_CASE("what a thread sends for uctrace itself is no message of the program") {
  log::test::LogBuilder log;
  log.chunk(log::Stream::definitions, 0, 1);
  log::ToolTraffic traffic{};
  traffic.tick = 100'000;
  traffic.end_tick = 200'000;
  traffic.sends = 1;
  log.add(traffic, log::RecordType::tool_traffic);
  std::uint32_t chunks[2] = {};
  const auto send = [&](std::uint16_t lane, std::uint64_t tick) {
    log.chunk(log::Stream::events, lane, ++chunks[lane]);
    log::UcpOperation record{};
    record.head.a = static_cast<std::uint16_t>(log::UcpFunction::tag_send_nbx);
    record.id = tick;
    record.start_tick = tick;
    log.add(record, log::RecordType::ucp_operation);
    ++log.lanes[lane].counters.ucp_operations;
    ++log.lanes[lane].counters.ucp_sends;
  };
  send(0, 99'999);
  send(0, 150'000);
  send(1, 150'001);  // another thread goes on meanwhile
  send(0, 200'001);
  LogSet logs;
  logs.files.push_back(log.read());
  const Run run = merge_logs(std::move(logs), {});
  CHECK(run.messages.size() == 3);
  CHECK(run.ucp_operations.size() == 3);
  const auto info = nlohmann::json::parse(run.info_json);
  CHECK(info["messages"]["sent"] == 3);
  CHECK(info["messages"]["unmatched"] == 3);
  CHECK(info["messages"]["tool"] == 1);
  for (const Identity& identity : run.identities) {
    if (identity.name == "tag_sends") CHECK(identity.left == 4);
    if (identity.name == "tag_sends") CHECK(identity.right == 4);
  }
}

}  // namespace uctrace::merge::test

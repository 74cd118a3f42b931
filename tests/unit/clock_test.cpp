#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "event-log/reader/reader.hpp"

namespace uctrace::log::test {
TEST_CASE("clock: the line from first to last anchor, against exact arithmetic") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t t0 = random() >> 8, m0 = 1 + (random() >> 4);
    const std::uint64_t ticks = 1000 + random() % (std::uint64_t{1} << 47);
    const std::uint64_t ns = 1 + ticks / (1 + random() % 5);
    const ClockFit fit(Clock::tsc, {{t0, m0, 0}, {t0 + ticks, m0 + ns, 0}});
    REQUIRE(fit.rate_known());
    CHECK(fit.max_deviation_ns() <= 1);
    const std::uint64_t at = random() % ticks;
    const auto exact = static_cast<long double>(m0) + static_cast<long double>(at) *
                                                          static_cast<long double>(ns) /
                                                          static_cast<long double>(ticks);
    CHECK(std::abs(static_cast<long double>(fit.monotonic_ns(t0 + at)) - exact) <= 1.0L);
  }
}

TEST_CASE("clock: deviation, one anchor, backward anchors, identity, job time") {
  ClockFit fit(Clock::tsc, {{1000, 5000, 0}, {2000, 5600, 0}, {3000, 6000, 0}});
  CHECK(fit.max_deviation_ns() == 100);
  CHECK(fit.monotonic_ns(2000) == 5500);
  CHECK(fit.monotonic_ns(0) == 4500);
  CHECK(fit.duration_ns(10) == 5);
  fit.set_job_line({.offset_ns = -5000});
  CHECK(fit.job_ns(2000) == 500);

  ClockFit one(Clock::tsc, {{1000, 5000, 0}});
  CHECK_FALSE(one.rate_known());
  CHECK(one.monotonic_ns(1000) == 5000);
  one.adopt_rate(0.5);
  CHECK(one.rate_known());
  CHECK(one.monotonic_ns(1100) == 5050);

  CHECK(ClockFit(Clock::tsc, {{1, 50, 0}, {2, 40, 0}, {3, 60, 0}}).backward_anchors() == 1);
  CHECK_FALSE(ClockFit(Clock::tsc, {{1, 50, 0}, {9, 40, 0}}).rate_known());
  CHECK_FALSE(ClockFit(Clock::tsc, {}).rate_known());

  const ClockFit raw(Clock::monotonic_raw, {{100, 103, 0}, {900, 900, 0}});
  CHECK(raw.rate_known());
  CHECK(raw.monotonic_ns(123456789) == 123456789);
  CHECK(raw.max_deviation_ns() == 3);
  CHECK(raw.monotonic_ns(UINT64_MAX) == INT64_MAX);
}

}  // namespace uctrace::log::test

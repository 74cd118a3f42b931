// What became of requests in pending queues whose leaving was not recorded.
#include "log-merger/load/load_pending.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

constexpr std::uint64_t kAddedTick = 100, kDestroyedTick = 200;

// Of a request that entered the queue of an endpoint, which was destroyed later.
PendingTotals totals_with(const std::vector<Gap>& gaps) {
  test::JobBuilder builder(1);
  ProcessLog& log = builder.log(0);
  log.recorded.gaps = gaps;
  Endpoint endpoint;
  endpoint.handle = 0x1000;
  endpoint.tick = 1;
  endpoint.destroyed_tick = kDestroyedTick;
  log.endpoints.push_back(endpoint);
  log::UctPendingView added{};
  added.r.head.b = static_cast<std::uint32_t>(log::PendingEvent::added);
  added.r.tick = kAddedTick;
  added.r.endpoint = endpoint.handle;
  added.r.request = 0x2000;
  PendingQueues queues;
  queues.take(added);
  queues.finish(log);
  CHECK(log.pending.added == 1);
  CHECK(log.pending.vanished + log.pending.queued == 1);
  return log.pending;
}

TEST_CASE("pending: it vanished with its endpoint if all was recorded in between") {
  const std::vector<std::vector<Gap>> elsewhere = {
      {},           {{0, kAddedTick}},     {{kDestroyedTick, 300}}, {{300, UINT64_MAX}},
      {{300, 400}}, {{0, 50}, {300, 400}}, {{0, 50}, {60, 70}},     {{0, 50}, {300, UINT64_MAX}}};
  for (const std::vector<Gap>& gaps : elsewhere) CHECK(totals_with(gaps).vanished == 1);
}

TEST_CASE("pending: it may have left the queue while nothing was recorded") {
  const std::vector<std::vector<Gap>> between = {
      {{150, 160}}, {{0, 101}},        {{199, UINT64_MAX}},
      {{50, 400}},  {{0, UINT64_MAX}}, {{0, 50}, {150, 160}, {300, 400}}};
  for (const std::vector<Gap>& gaps : between) CHECK(totals_with(gaps).queued == 1);
}

}  // namespace
}  // namespace uctrace::merge

// What ranks spent their time with, where a damaged log has calls longer than any run.
#include "log-merger/waits/rank_times.hpp"

#include <doctest/doctest.h>

#include "log-merger/model/durations.hpp"
#include "log-merger/waits/wait_identities.hpp"
#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

struct LongCalls {
  LongCalls() {
    builder.log(0).calls_of_lane.resize(1);
    job().run.processes.emplace_back();
  }

  Job& job() { return builder.job; }

  void call(const char* function, std::int64_t ns, std::int64_t waiting_ns) {
    MpiCall call;
    call.process = Rank(0);
    call.function = job().run.texts.intern(function);
    call.start_ns = 0;
    call.end_ns = ns;
    const CallIndex index = job().calls.add(call);
    builder.log(0).calls_of_lane[0].push_back(index);
    MpiCallRow row;
    row.function = call.function;
    row.t_start_ns = call.start_ns;
    row.t_end_ns = call.end_ns;
    job().run.mpi_calls.push_back(row);
    if (waiting_ns == 0) return;
    Wait wait;
    wait.call = index.number();
    wait.ns = waiting_ns;
    job().run.waits.push_back(wait);
  }

  const RankTime& times() {
    RolesOfCalls roles(job());
    find_rank_times(job(), roles, {0});
    REQUIRE(job().run.rank_times.size() == 1);
    return job().run.rank_times.front();
  }

  test::JobBuilder builder{1};
};

// Of an identity that says what all ranks spent.
void check_holds(const Run& run, std::int64_t ns) {
  const Identity identity = wait_identities(run).front();
  CHECK(identity.left == static_cast<std::uint64_t>(ns));
  CHECK(identity.right == static_cast<std::uint64_t>(ns));
  CHECK(identity.result == Verdict::holds);
}

TEST_CASE(
    "rank times: calls whose lengths are more than a number holds add up to the most there is") {
  LongCalls calls;
  for (int i = 0; i < 3; ++i) calls.call("MPI_Get_count", kLongestNs, 0);
  const RankTime& times = calls.times();
  CHECK(times.mpi_ns == kLongestNs);
  CHECK(times.other_ns == kLongestNs);
  check_holds(calls.job().run, kLongestNs);
}

TEST_CASE("rank times: so do waits in them") {
  LongCalls calls;
  for (int i = 0; i < 3; ++i) calls.call("MPI_Recv", kLongestNs, kLongestNs);
  const RankTime& times = calls.times();
  CHECK(times.waiting_ns == kLongestNs);
  CHECK(times.moving_ns == 0);
  check_holds(calls.job().run, kLongestNs);
}

TEST_CASE("rank times: MPI's own start and end likewise") {
  LongCalls calls;
  for (int i = 0; i < 3; ++i) calls.call("MPI_Init", kLongestNs, 0);
  const RankTime& times = calls.times();
  CHECK(times.start_and_end_ns == kLongestNs);
  CHECK(times.mpi_ns == 0);
  check_holds(calls.job().run, 0);
}

}  // namespace
}  // namespace uctrace::merge

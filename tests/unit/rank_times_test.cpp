// How ranks spent their time, where a damaged log has calls longer than any run.
#include "log-merger/waits/rank_times.hpp"

#include <doctest/doctest.h>

#include "log-merger/model/durations.hpp"
#include "log-merger/model/mpi_names.hpp"
#include "log-merger/waits/ideal_times.hpp"
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
    call_at(function, 0, ns, waiting_ns);
  }

  void call_at(const char* function, std::int64_t start_ns, std::int64_t end_ns,
               std::int64_t waiting_ns = 0) {
    MpiCall call;
    call.process = Rank(0);
    call.function = job().run.texts.intern(function);
    call.start_ns = start_ns;
    call.end_ns = end_ns;
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

TEST_CASE("rank times: sessions stand apart as MPI_Init and MPI_Finalize do") {
  for (const bool has_world : {false, true}) {
    LongCalls calls;
    calls.call_at(has_world ? "MPI_Init" : "MPI_Session_init", 0, 10);
    calls.call_at("MPI_Get_count", 20, 23);
    calls.call_at("MPI_Session_init", 30, 35);
    calls.call_at("MPI_Session_finalize", 40, 47);
    calls.call_at("MPI_Get_count", 50, 52);
    calls.call_at(has_world ? "MPI_Finalize" : "MPI_Session_finalize", 90, 100);
    const RankTime& times = calls.times();
    CAPTURE(has_world);
    CHECK(times.t_begin_ns == 10);
    CHECK(times.t_end_ns == 90);
    CHECK(times.start_and_end_ns == 10 + 5 + 7 + 10);
    CHECK(times.sessions_ns == 5 + 7);
    CHECK(times.mpi_ns == 3 + 2);
    check_holds(calls.job().run, 3 + 2);
  }
}

TEST_CASE("rank times: a session that was not seen to end ends nothing") {
  LongCalls calls;
  calls.call_at("MPI_Session_init", 0, 10);
  calls.call_at("MPI_Session_init", 15, 20);
  calls.call_at("MPI_Session_finalize", 30, 40);
  calls.call_at("MPI_Get_count", 50, 55);
  const RankTime& times = calls.times();
  CHECK(times.t_begin_ns == 10);
  CHECK(times.t_end_ns == 55);
  CHECK(times.sessions_ns == 5 + 10);
}

TEST_CASE("rank times: a session that was not seen to begin began nothing") {
  LongCalls calls;
  calls.call_at("MPI_Get_count", 2, 5);
  calls.call_at("MPI_Session_init", 10, 20);
  calls.call_at("MPI_Session_finalize", 30, 40);
  calls.call_at("MPI_Session_finalize", 50, 60);
  const RankTime& times = calls.times();
  CHECK(times.t_begin_ns == 2);
  CHECK(times.t_end_ns == 50);
  CHECK(times.sessions_ns == 10 + 10);
}

TEST_CASE("rank times: a process that was killed in MPI_Finalize had its run before it") {
  for (const bool is_open : {false, true}) {
    LongCalls calls;
    calls.call_at("MPI_Init", 0, 10);
    calls.call_at("MPI_Get_count", 20, 23);
    calls.call_at("MPI_Finalize", 90, is_open ? -1 : 100);
    calls.job().calls[CallIndex(2)].open = is_open;
    const RankTime& times = calls.times();
    CAPTURE(is_open);
    CHECK(times.t_begin_ns == 10);
    CHECK(times.t_end_ns == 90);
    CHECK(times.start_and_end_ns == 10 + (is_open ? 0 : 10));
    CHECK(times.calls == (is_open ? 2 : 3));
    RolesOfCalls roles(calls.job());
    CHECK(ideal_times(calls.job(), roles)[0] == 90 - 10 - 3);
  }
}

TEST_CASE("rank times: a start of MPI that was not left is no beginning") {
  LongCalls calls;
  calls.call_at("MPI_Get_version", 5, 6);
  calls.call_at("MPI_Init", 20, -1);
  calls.job().calls[CallIndex(1)].open = true;
  const RankTime& times = calls.times();
  CHECK(times.t_begin_ns == 5);
  CHECK(times.t_end_ns == 6);
  CHECK(times.start_and_end_ns == 0);
}

TEST_CASE("sessions are the edges of MPI where a process calls neither MPI_Init nor MPI_Finalize") {
  using E = MpiEdge;
  struct Case {
    std::vector<std::pair<MpiEdge, std::int64_t>> calls;  // edge and start, by number
    std::int64_t start, end;
  };
  const Case cases[] = {
      {{{E::init, 1}, {E::finalize, 9}}, 0, 1},
      {{{E::session_init, 1},
        {E::session_init, 2},
        {E::session_finalize, 3},
        {E::session_finalize, 4}},
       0,
       3},
      // A library's session in a program that is killed, or that is seen from its middle on.
      {{{E::init, 1}, {E::session_init, 2}, {E::session_finalize, 3}}, 0, -1},
      {{{E::session_init, 2}, {E::session_finalize, 3}, {E::finalize, 9}}, -1, 2},
      // One is still there; one was there before.
      {{{E::session_init, 1}, {E::session_init, 2}, {E::session_finalize, 3}}, 0, -1},
      {{{E::session_init, 1}, {E::session_finalize, 2}, {E::session_finalize, 3}}, -1, 2},
      // Between two that are seen in part.
      {{{E::session_finalize, 100}, {E::session_init, 200}}, -1, -1},
      // Of which no time is known.
      {{{E::session_init, -1}, {E::session_init, 5}, {E::session_finalize, 6}}, 1, 2},
      {{}, -1, -1},
  };
  for (const Case& one : cases) {
    EdgesOfMpi edges;
    for (std::size_t call = 0; call < one.calls.size(); ++call) {
      edges.add(one.calls[call].first, static_cast<std::int64_t>(call), one.calls[call].second);
    }
    CAPTURE(&one - cases);
    CHECK(edges.start() == one.start);
    CHECK(edges.end() == one.end);
  }
}

}  // namespace
}  // namespace uctrace::merge

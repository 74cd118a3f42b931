// Whose work waits come from, and the ideal run, of small jobs of which the answer is known.
#include "log-merger/waits/delays.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "log-merger/waits/dependencies.hpp"
#include "log-merger/waits/ideal_times.hpp"
#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

struct Waiting {
  static constexpr CommIndex kWorld{0};

  explicit Waiting(int ranks) : builder(ranks) {
    CommInstance world;
    world.sides[0].world = 0;
    world.sides[0].size = static_cast<std::uint32_t>(ranks);
    job().comms.push_back(world);
    for (int rank = 0; rank < ranks; ++rank) {
      Comm comm;
      comm.instance = InstanceIndex(0);
      comm.rank = static_cast<std::uint32_t>(rank);
      builder.log(rank).comms.push_back(comm);
      builder.log(rank).calls_of_lane.resize(1);
      job().run.processes.emplace_back();
      RankTime times;
      times.process = static_cast<std::uint32_t>(rank);
      times.t_begin_ns = 0;
      job().run.rank_times.push_back(times);
    }
  }

  Job& job() { return builder.job; }

  CallIndex call(Rank rank, const char* function, std::int64_t start_ns, std::int64_t end_ns) {
    MpiCall row;
    row.process = rank;
    row.function = job().run.texts.intern(function);
    row.start_tick = static_cast<std::uint64_t>(start_ns);
    row.end_tick = static_cast<std::uint64_t>(end_ns);
    row.start_ns = start_ns;
    row.end_ns = end_ns;
    row.bytes = 8;
    row.comm = kWorld;
    const CallIndex index = job().calls.add(row);
    builder.log(rank).calls_of_lane[0].push_back(index);
    MpiCallRow told;
    told.process = static_cast<std::uint32_t>(rank.number());
    told.function = row.function;
    job().run.mpi_calls.push_back(told);
    return index;
  }

  void wait(CallIndex call, CallIndex cause, std::int64_t start_ns, std::int64_t ns) {
    Wait row;
    row.process = static_cast<std::uint32_t>(job().calls[call].process.number());
    row.cause_process = job().calls[cause].process.number();
    row.call = call.number();
    row.cause_call = cause.number();
    row.t_start_ns = start_ns;
    row.ns = ns;
    job().run.waits.push_back(row);
  }

  // By process.
  std::map<std::uint32_t, std::int64_t> delays() {
    RolesOfCalls roles(job());
    const Collectives collectives(job(), roles);
    find_delays(job(), Meetings(job(), collectives, {}));
    std::map<std::uint32_t, std::int64_t> sums;
    for (const Delay& delay : job().run.delays) {
      sums[delay.process] += delay.direct_ns + delay.passed_on_ns;
    }
    return sums;
  }

  test::JobBuilder builder;
};

}  // namespace

TEST_CASE("ranks that never met before met at the end of MPI_Init") {
  Waiting waiting(3);
  const CallIndex first_send = waiting.call(0, "MPI_Send", 100, 101);
  const CallIndex first_receive = waiting.call(1, "MPI_Recv", 0, 101);
  const CallIndex second_send = waiting.call(1, "MPI_Send", 105, 106);
  const CallIndex second_receive = waiting.call(2, "MPI_Recv", 0, 106);
  waiting.wait(first_receive, first_send, 0, 100);
  waiting.wait(second_receive, second_send, 0, 105);
  const auto delays = waiting.delays();
  CHECK(delays.at(0) == 200);  // rank 1 only waited, but for 5 ns
  CHECK(delays.at(1) == 5);
}

TEST_CASE("what a call waited for first is no work of its own") {
  Waiting waiting(3);
  const CallIndex of_0 = waiting.call(0, "MPI_Send", 60, 61);
  const CallIndex early = waiting.call(0, "MPI_Send", 20, 21);
  const CallIndex of_1 = waiting.call(1, "MPI_Waitall", 0, 121);
  const CallIndex receives = waiting.call(2, "MPI_Recv", 0, 21);
  const CallIndex of_2 = waiting.call(2, "MPI_Send", 120, 121);
  waiting.wait(of_1, of_0, 0, 60);
  waiting.wait(of_1, of_2, 60, 60);
  waiting.wait(receives, early, 0, 20);
  const auto delays = waiting.delays();
  CHECK(delays.at(2) == 50);  // 100 ns of work beside 20 of waiting: 5/6 of 60
  CHECK(delays.at(0) == 60 + 20 + 10);
}

TEST_CASE("who completes a non-blocking operation waits for all in the ideal run, too") {
  for (const bool blocking : {true, false}) {
    Waiting waiting(2);
    std::vector<std::pair<CallIndex, CallIndex>> completions;
    std::int64_t now = 0;
    // Either rank works in every second step, while the other one waits for it; data takes 7 ns.
    for (int step = 0; step < 10; ++step) {
      for (int rank = 0; rank < 2; ++rank) {
        const std::int64_t work = step % 2 == rank ? 101 : 1;
        if (blocking) {
          waiting.call(rank, "MPI_Allreduce", now + work, now + 108);
        } else {
          const CallIndex begun = waiting.call(rank, "MPI_Iallreduce", now + work, now + work);
          completions.emplace_back(waiting.call(rank, "MPI_Wait", now + work, now + 108), begun);
        }
      }
      now += 108;
    }
    for (int rank = 0; rank < 2; ++rank) waiting.call(rank, "MPI_Finalize", now + 1, now + 2);
    RolesOfCalls roles(waiting.job());
    Collectives collectives(waiting.job(), roles);
    for (const auto& [completing, begun] : completions) {
      collectives.completed_by(completing, begun);
    }
    find_dependencies(waiting.job(), collectives, {});
    const auto ideal = ideal_times(waiting.job(), roles);
    CAPTURE(blocking);
    // It begins with the first call of each: rank 0's is made after its first work.
    CHECK(ideal[1] == 10 * 101);
    CHECK(ideal[0] == 9 * 101 + 1);
  }
}

TEST_CASE("the last message that was over at both is found however many are under way") {
  Waiting waiting(2);
  RolesOfCalls roles(waiting.job());
  const Collectives collectives(waiting.job(), roles);
  std::mt19937 random(5);
  const auto below = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
  for (int round = 0; round < 200; ++round) {
    std::vector<ReceivedMessage> received;
    for (int i = 0; i < 300; ++i) {
      const int from = static_cast<int>(below(2));
      const std::int64_t sent_ns = 1 + below(1000);
      // Many arrive long after, as the other one comes late to receive them.
      const std::int64_t takes_ns = below(8) == 0 ? below(10) : 500 + below(1000);
      received.push_back({ProcessIndex(from), ProcessIndex(1 - from), sent_ns, sent_ns + takes_ns});
    }
    const Meetings meetings(waiting.job(), collectives, {received});
    for (const int own : {0, 1}) {
      const Meetings::Until until{below(1000), below(1500)};
      // Of several the one that is last at rank 0.
      std::int64_t last_ns = 0;
      for (const ReceivedMessage& message : received) {
        const bool from_own = message.source == ProcessIndex(own);
        const std::int64_t own_ns = from_own ? message.sent_ns : message.received_ns;
        const std::int64_t other_ns = from_own ? message.received_ns : message.sent_ns;
        if (own_ns > until.own_ns || other_ns >= until.other_ns) continue;
        last_ns = std::max(last_ns, own == 0 ? own_ns : other_ns);
      }
      const Meeting found = meetings.last(ProcessIndex(own), ProcessIndex(1 - own), until);
      CAPTURE(round);
      CHECK((own == 0 ? found.own_ns : found.other_ns) == last_ns);
    }
  }
}

TEST_CASE("MPI_Bcast and MPI_Bcast_c are one operation") {
  Waiting waiting(2);
  waiting.call(0, "MPI_Bcast", 10, 11);
  waiting.call(1, "MPI_Bcast_c", 0, 11);
  RolesOfCalls roles(waiting.job());
  const Collectives collectives(waiting.job(), roles);
  REQUIRE(collectives.operations().size() == 1);
  CHECK(collectives.operations()[0].complete);
}

TEST_CASE("calls of which it is not known with whom they are one operation are told") {
  Waiting waiting(2);
  const CallIndex counts = waiting.call(0, "MPI_Alltoallv", 0, 10);
  const CallIndex spawns = waiting.call(0, "MPI_Comm_spawn", 10, 20);
  RolesOfCalls roles(waiting.job());
  const Collectives collectives(waiting.job(), roles);
  const auto is_of_no_operation = [&](CallIndex index) {
    const MpiCall& call = waiting.job().calls[index];
    return collectives.is_of_no_operation(call, roles(call).role);
  };
  CHECK_FALSE(is_of_no_operation(counts));
  CHECK(is_of_no_operation(spawns));
  waiting.job().calls[counts].comm = kNone;
  CHECK(is_of_no_operation(counts));
}

}  // namespace uctrace::merge

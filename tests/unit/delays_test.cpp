// The work that causes waits, and the ideal run, of small jobs with known answers.
#include "log-merger/waits/delays.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "log-merger/waits/dependencies.hpp"
#include "log-merger/waits/ideal_times.hpp"
#include "tests/unit/called_job.hpp"

namespace uctrace::merge {
namespace {

struct Waiting : test::CalledJob {
  explicit Waiting(int ranks) : CalledJob(ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      RankTime times;
      times.process = static_cast<std::uint32_t>(rank);
      times.t_begin_ns = 0;
      job().run.rank_times.push_back(times);
    }
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
  std::map<std::uint32_t, std::int64_t> delays(const std::vector<ReceivedMessage>& received = {}) {
    RolesOfCalls roles(job());
    const Collectives collectives(job(), roles);
    find_delays(job(), Meetings(job(), collectives, {received}));
    std::map<std::uint32_t, std::int64_t> sums;
    for (const Delay& delay : job().run.delays) {
      sums[delay.process] += delay.direct_ns + delay.passed_on_ns;
    }
    return sums;
  }
};

// Costs as defined in docs/waits.md: each wait is compared with all others.
class NaiveDelays {
 public:
  NaiveDelays(const Run& run, const std::vector<ReceivedMessage>& received)
      : run_(run), received_(received), passed_on_(run.waits.size()) {
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < run.waits.size(); ++row) rows.push_back(row);
    std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
      return end_of(run.waits[a]) > end_of(run.waits[b]);
    });
    for (const std::size_t row : rows) lay(run.waits[row], passed_on_[row]);
  }

  std::map<std::uint32_t, double> delays;

 private:
  static std::int64_t end_of(const Wait& wait) { return wait.t_start_ns + wait.ns; }

  // Before the wait: when the one had sent what the other had received. Of several the one that is
  // last at the lower rank, as one pair has one order.
  Meeting last_meeting(const Wait& wait) const {
    const ProcessIndex own(wait.process), late(wait.cause_process);
    Meeting last{0, 0};
    const auto of_lower = [&](const Meeting& met) {
      return own < late ? met.own_ns : met.other_ns;
    };
    for (const ReceivedMessage& message : received_) {
      const bool sends = message.source == own && message.destination == late;
      if (!sends && !(message.source == late && message.destination == own)) continue;
      const Meeting met = sends ? Meeting{message.sent_ns, message.received_ns}
                                : Meeting{message.received_ns, message.sent_ns};
      const bool was_over = met.own_ns <= wait.t_start_ns && met.other_ns < end_of(wait);
      if (was_over && of_lower(met) > of_lower(last)) last = met;
    }
    return last;
  }

  // Rows of a process that ended in (from, to].
  std::vector<std::size_t> waits_of(std::uint32_t process, std::int64_t from,
                                    std::int64_t to) const {
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < run_.waits.size(); ++row) {
      const Wait& wait = run_.waits[row];
      if (wait.process == process && end_of(wait) > from && end_of(wait) <= to) rows.push_back(row);
    }
    return rows;
  }

  std::int64_t length_of(const std::vector<std::size_t>& rows) const {
    std::int64_t ns = 0;
    for (const std::size_t row : rows) ns += run_.waits[row].ns;
    return ns;
  }

  // Its own length, and what was passed on to it.
  void lay(const Wait& wait, double passed_on) {
    const auto late = static_cast<std::uint32_t>(wait.cause_process);
    const double cost = static_cast<double>(wait.ns) + passed_on;
    const Meeting met = last_meeting(wait);
    const auto of_own = waits_of(wait.process, met.own_ns, wait.t_start_ns);
    const auto of_late = waits_of(late, met.other_ns, end_of(wait) - 1);
    const std::int64_t waited = length_of(of_late);
    const std::int64_t more =
        std::max<std::int64_t>(0, (end_of(wait) - met.other_ns - waited) -
                                      (wait.t_start_ns - met.own_ns - length_of(of_own)));
    const double whole = static_cast<double>(more + waited);
    const double share = whole > 0 ? static_cast<double>(more) / whole : 1;
    delays[late] += cost * share;
    for (const std::size_t row : of_late) {
      passed_on_[row] += cost * (1 - share) * static_cast<double>(run_.waits[row].ns) /
                         static_cast<double>(waited);
    }
  }

  const Run& run_;
  const std::vector<ReceivedMessage>& received_;
  std::vector<double> passed_on_;  // to each
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

TEST_CASE("delay costs of random programs are what a naive count has") {
  std::mt19937 random(1217);
  const auto below = [&](int n) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  };
  int passed_on = 0;
  for (int round = 0; round < 200; ++round) {
    const int ranks = 2 + static_cast<int>(below(5));
    Waiting waiting(ranks);
    std::vector<std::int64_t> now(static_cast<std::size_t>(ranks), 0);
    std::vector<ReceivedMessage> received;
    // A sender works, and its receiver works and waits if that was less.
    for (int step = 0; step < 40; ++step) {
      const auto from = static_cast<std::size_t>(below(ranks));
      const auto to = static_cast<std::size_t>(below(ranks));
      if (from == to) continue;
      const std::int64_t sent_ns = now[from] + 1 + below(50);
      const std::int64_t entered_ns = now[to] + 1 + below(20);
      const std::int64_t left_ns = std::max(sent_ns, entered_ns) + 1 + below(3);
      const auto sender = static_cast<int>(from), receiver = static_cast<int>(to);
      const CallIndex send = waiting.call(sender, "MPI_Send", sent_ns, sent_ns + 1);
      const CallIndex receive = waiting.call(receiver, "MPI_Recv", entered_ns, left_ns);
      if (sent_ns > entered_ns) waiting.wait(receive, send, entered_ns, sent_ns - entered_ns);
      if (below(3) > 0) {
        received.push_back({ProcessIndex(sender), ProcessIndex(receiver), sent_ns, left_ns});
      }
      now[from] = sent_ns + 1;
      now[to] = left_ns;
    }
    const NaiveDelays naive(waiting.job().run, received);
    const auto found = waiting.delays(received);
    for (const Delay& delay : waiting.job().run.delays) passed_on += delay.passed_on_ns > 0;
    CAPTURE(round);
    CHECK(found.size() == naive.delays.size());
    for (const auto& [process, ns] : naive.delays) {
      // A row has two numbers, each rounded, and all are late to MPI_Send.
      CHECK(std::abs(static_cast<double>(found.at(process)) - ns) <= 2);
    }
  }
  CHECK(passed_on > 100);
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

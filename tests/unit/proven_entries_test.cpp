// What messages prove about the order in which ranks entered an operation, compared with a naive
// search; and the resulting waits in operations without a rule.
#include "log-merger/waits/proven_entries.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>

#include "log-merger/waits/collectives.hpp"
#include "tests/unit/called_job.hpp"

namespace uctrace::merge {
namespace {

struct Operations : test::CalledJob {
  using CalledJob::CalledJob;

  void message(CallIndex from, CallIndex to, std::int64_t sent_ns, std::int64_t received_ns) {
    sent.push_back({from, to, sent_ns, received_ns});
  }

  std::vector<Wait> waits() {
    RolesOfCalls roles(job());
    const Collectives collectives(job(), roles);
    std::vector<Wait> rows;
    collectives.find_waits(WaitMaker(job()), rows);
    return rows;
  }

  // All calls that were entered before `call` could have gone on at `at_ns`.
  void search(CallIndex call, std::int64_t at_ns, std::set<CallIndex>& found) const {
    for (const Sent& one : sent) {
      if (one.to != call || one.received_ns > at_ns) continue;
      found.insert(one.from);
      search(one.from, one.sent_ns - 1, found);
    }
  }
};

}  // namespace

TEST_CASE("what messages prove is what a naive search finds") {
  std::mt19937 random(17);
  const auto below = [&](int n) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
  };
  int late = 0;
  for (int round = 0; round < 300; ++round) {
    const int ranks = 2 + static_cast<int>(below(5));
    Operations operations(ranks);
    std::vector<CallIndex> calls;
    for (int rank = 0; rank < ranks; ++rank) {
      calls.push_back(operations.call(rank, "MPI_Alltoallv", below(100), 1000));
    }
    for (int i = 0; i < 12; ++i) {
      const auto from = static_cast<std::size_t>(below(ranks));
      const auto to = static_cast<std::size_t>(below(ranks));
      if (from == to) continue;
      const std::int64_t sent_ns = operations.job().calls[calls[from]].start_ns + 2 * below(400);
      operations.message(calls[from], calls[to], sent_ns, sent_ns + 1 + 2 * below(20));
    }
    operations.lay_out_messages();
    const ProvenEntries proven(operations.job());
    for (const CallIndex own : calls) {
      const auto entered = [&](CallIndex index) { return operations.job().calls[index].start_ns; };
      std::set<CallIndex> found;
      operations.search(own, 1000, found);
      found.erase(own);
      std::int64_t last_ns = -1;
      for (const CallIndex other : found) last_ns = std::max(last_ns, entered(other));
      const CallIndex latest = proven.latest(own);
      CAPTURE(round);
      if (last_ns > entered(own)) {
        REQUIRE(latest != kNone);
        CHECK(entered(latest) == last_ns);
        ++late;
      } else if (latest != kNone) {
        CHECK(entered(latest) <= entered(own));
      }
    }
  }
  CHECK(late > 300);
}

TEST_CASE("who sent nothing and came during a call may have been waited for, until then") {
  Operations operations(4);
  const CallIndex first = operations.call(0, "MPI_Alltoallv", 10, 100);
  const CallIndex second = operations.call(1, "MPI_Alltoallv", 40, 100);
  operations.call(2, "MPI_Alltoallv", 70, 100);
  operations.call(3, "MPI_Alltoallv", 200, 300);
  operations.message(second, first, 45, 50);
  operations.lay_out_messages();
  const std::vector<Wait> waits = operations.waits();
  REQUIRE(waits.size() == 3);
  CHECK(waits[0].call == first.number());
  CHECK(waits[0].cause_call == second.number());
  CHECK(waits[0].ns == 30);
  // Rank 2 came at 70; rank 3 when it was over.
  CHECK(waits[1].call == first.number());
  CHECK(waits[1].unknown == WaitUnknown::partner);
  CHECK(waits[1].t_start_ns == 40);
  CHECK(waits[1].unknown_ns == 30);
  CHECK(waits[2].call == second.number());
  CHECK(waits[2].unknown_ns == 30);
}

TEST_CASE("what came when a call was over, it did not wait for") {
  Operations operations(2);
  const CallIndex first = operations.call(0, "MPI_Comm_dup", 10, 100);
  const CallIndex second = operations.call(1, "MPI_Comm_dup", 40, 200);
  operations.message(second, first, 45, 150);
  operations.lay_out_messages();
  CHECK(ProvenEntries(operations.job()).latest(first) == kNone);
}

TEST_CASE("in an intercommunicator who waits, waits for the other group") {
  Operations operations(4);
  CommInstance& comm = operations.job().comms[InstanceIndex(0)];
  comm.inter = true;
  comm.sides[0].size = comm.sides[1].size = 2;
  for (int rank = 0; rank < 4; ++rank) {
    Comm& own = operations.builder.log(rank).comms[Operations::kWorld];
    own.rank = static_cast<std::uint32_t>(rank % 2);
    own.side = static_cast<std::uint8_t>(rank / 2);
  }
  const std::int64_t entered[] = {10, 60, 20, 30};
  for (int rank = 0; rank < 4; ++rank) {
    operations.call(rank, "MPI_Barrier", entered[rank], 100 + rank);
  }
  // From rank 1, the second of the first group, to the other one.
  const std::int32_t roots[] = {log::MpiCall::kNull, log::MpiCall::kRoot, 1, 1};
  for (int rank = 0; rank < 4; ++rank) {
    const CallIndex index = operations.call(rank, "MPI_Bcast", 200 + entered[rank], 300);
    operations.job().calls[index].peer = roots[rank];
    operations.job().calls[index].bytes = 8;
  }
  std::map<std::pair<WaitKind, std::uint32_t>, std::int64_t> ns;
  for (const Wait& wait : operations.waits()) {
    CHECK(wait.unknown_ns == 0);
    if (is_waiting(wait.kind)) ns[{wait.kind, wait.process}] += wait.ns;
  }
  CHECK(ns == std::map<std::pair<WaitKind, std::uint32_t>, std::int64_t>{
                  {{WaitKind::wait_barrier, 0}, 20},
                  {{WaitKind::wait_barrier, 2}, 40},
                  {{WaitKind::wait_barrier, 3}, 30},
                  {{WaitKind::late_broadcast, 2}, 40},
                  {{WaitKind::late_broadcast, 3}, 30}});
}

TEST_CASE("starts of one persistent request are one operation, in whichever order they are made") {
  Operations operations(2);
  CallIndex makers[2][2];
  for (int rank = 0; rank < 2; ++rank) {
    for (int i = 0; i < 2; ++i) {
      makers[rank][i] = operations.call(rank, "MPI_Allreduce_init", i, i + 1);
      operations.job().calls[makers[rank][i]].bytes = 8;
    }
  }
  // Rank 0 starts the second one first.
  const CallIndex starts[2][2] = {
      {operations.call(0, "MPI_Start", 30, 31), operations.call(0, "MPI_Start", 20, 21)},
      {operations.call(1, "MPI_Start", 60, 61), operations.call(1, "MPI_Start", 70, 71)}};
  for (int rank = 0; rank < 2; ++rank) {
    for (int i = 0; i < 2; ++i) {
      operations.builder.log(rank).makers_of_started[starts[rank][i]] = {makers[rank][i]};
    }
  }
  const CallIndex waiting = operations.call(0, "MPI_Wait", 40, 100);
  RolesOfCalls roles(operations.job());
  Collectives collectives(operations.job(), roles);
  const WaitMaker maker(operations.job());
  for (int i = 0; i < 2; ++i) {
    const EntryOfCall begun(starts[0][i], makers[0][i]);
    const auto awaited = collectives.awaited(maker, waiting, begun);
    REQUIRE(awaited.size() == 1);
    CHECK(awaited[0].wait.cause_call == starts[1][i].number());
    CHECK(awaited[0].ready_ns == (i == 0 ? 60 : 70));
    collectives.completed_by(waiting, begun);
    CHECK(collectives.left_by(begun) == waiting);
  }
}

}  // namespace uctrace::merge

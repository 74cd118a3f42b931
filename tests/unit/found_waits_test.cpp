// Waits of small random programs compared with a naive evaluation: fences and locks, and what is
// unknown because of clocks or a partner; and which calls completed what they started.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "log-merger/waits/begun_collectives.hpp"
#include "tests/unit/waiting_program.hpp"

namespace uctrace::merge {

using test::Program;

TEST_CASE("waits at fences of random programs are the naive ones") {
  std::int64_t waited = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const int ranks = 2 + static_cast<int>(seed % 4);
    Program program(ranks, seed);
    for (int fence = 0; fence < 10; ++fence) {
      std::vector<Program::Entered> calls;
      std::int64_t last_ns = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        last_ns = std::max(last_ns, program.now_of(rank) + 41);
      }
      // It may synchronise or not: all leave after the last one enters, or at any time.
      const bool synchronises = program.below(3) > 0;
      for (int rank = 0; rank < ranks; ++rank) {
        calls.push_back(program.on_window(rank, "MPI_Win_fence", INT32_MIN,
                                          synchronises ? last_ns : program.below(200)));
      }
      int last = 0;
      for (int rank = 1; rank < ranks; ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        if (calls[at].start_ns > calls[static_cast<std::size_t>(last)].start_ns) last = rank;
      }
      const std::int64_t entered_ns = calls[static_cast<std::size_t>(last)].start_ns;
      const bool somebody_left = std::any_of(
          calls.begin(), calls.end(), [&](const auto& own) { return own.end_ns < entered_ns; });
      for (int rank = 0; rank < ranks && !somebody_left; ++rank) {
        program.expect(WaitKind::rma_wait_at_fence, rank, last,
                       calls[static_cast<std::size_t>(rank)], entered_ns);
      }
    }
    program.find();
    CAPTURE(seed);
    CHECK(program.waits == program.expected);
    CHECK(program.unknown.empty());
    for (const auto& [who, ns] : program.waits) waited += ns;
  }
  CHECK(waited > 1000);
}

TEST_CASE("waits for locks of random programs are the naive ones") {
  struct Lock {
    int origin, target;
    bool alone;
    std::vector<Program::Entered> calls;

    std::int64_t ends_ns() const { return calls.back().start_ns; }
  };
  std::int64_t waited = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const int ranks = 3 + static_cast<int>(seed % 3);
    Program program(ranks, seed);
    std::vector<Lock> locks;
    std::set<std::int64_t> ends;  // which of two that end at once held it is not known
    for (int i = 0; i < 30; ++i) {
      Lock lock{program.below(ranks), program.below(2), program.below(2) == 0, {}};
      lock.calls = {program.on_window(lock.origin, "MPI_Win_lock", lock.target),
                    program.on_window(lock.origin, "MPI_Put", lock.target,
                                      program.now_of(lock.origin) + program.below(300))};
      program.job().calls[lock.calls[0].call].locks_alone = lock.alone;
      do {
        ++program.now_of(lock.origin);
      } while (ends.contains(program.now_of(lock.origin) + 1));
      lock.calls.push_back(program.on_window(lock.origin, "MPI_Win_unlock", lock.target));
      if (!ends.insert(lock.ends_ns()).second) continue;
      locks.push_back(lock);
    }
    if (ends.size() != 30) continue;
    for (const Lock& own : locks) {
      // Who held it last before this epoch ended, and gave it back since it began.
      const Lock* holder = nullptr;
      for (const Lock& other : locks) {
        const bool excludes =
            other.origin != own.origin && other.target == own.target && (other.alone || own.alone);
        if (!excludes || other.ends_ns() >= own.ends_ns()) continue;
        if (other.ends_ns() <= own.calls.front().start_ns) continue;
        if (holder == nullptr || other.ends_ns() > holder->ends_ns()) holder = &other;
      }
      if (holder == nullptr) continue;
      for (const auto& call : own.calls) {
        if (holder->ends_ns() >= call.end_ns) continue;  // it was not in this one
        program.expect(WaitKind::rma_lock_contention, own.origin, holder->origin, call,
                       holder->ends_ns());
      }
    }
    program.find();
    CAPTURE(seed);
    CHECK(program.waits == program.expected);
    for (const auto& [who, ns] : program.waits) waited += ns;
  }
  CHECK(waited > 1000);
}

// Ranks of two hosts, of which the clocks were never compared.
TEST_CASE("a wait for a message is unknown where clocks or partners are, and no other one is") {
  std::map<WaitUnknown, std::int64_t> not_known;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const int ranks = 3 + static_cast<int>(seed % 3);
    Program program(ranks, seed);
    const auto clock_of = [](int rank) { return static_cast<std::size_t>(rank % 2); };
    for (int rank = 0; rank < ranks; ++rank) {
      program.builder.log(rank).monotonic_clock = clock_of(rank);
    }
    for (int i = 0; i < 30; ++i) {
      const int from = program.below(ranks), to = program.below(ranks);
      if (from == to) continue;
      const auto send = program.enter(from, "MPI_Send");
      const auto receive =
          program.enter(to, "MPI_Recv", program.below(2) * (send.start_ns + program.below(10)));
      const Match match = program.below(4) > 0   ? Match::exact
                          : program.below(2) > 0 ? Match::ambiguous
                                                 : Match::unmatched;
      program.sent.push_back({send.call, receive.call, send.start_ns, receive.end_ns, match});
      if (match != Match::exact) {
        program.expect_unknown(WaitKind::late_sender, WaitUnknown::partner, to, receive);
      } else if (clock_of(from) != clock_of(to)) {
        program.expect_unknown(WaitKind::late_sender, WaitUnknown::clocks, to, receive);
      } else {
        program.expect(WaitKind::late_sender, to, from, receive, send.start_ns);
      }
    }
    program.find();
    // Whether it could have received another message first is tested elsewhere.
    for (auto wait = program.waits.begin(); wait != program.waits.end();) {
      const auto [kind, own, cause] = wait->first;
      if (kind != WaitKind::wrong_order) {
        ++wait;
        continue;
      }
      program.waits[{WaitKind::late_sender, own, cause}] += wait->second;
      wait = program.waits.erase(wait);
    }
    CAPTURE(seed);
    CHECK(program.waits == program.expected);
    CHECK(program.unknown == program.expected_unknown);
    for (const auto& [who, ns] : program.unknown) not_known[std::get<WaitUnknown>(who)] += ns;
  }
  CHECK(not_known[WaitUnknown::partner] > 1000);
  CHECK(not_known[WaitUnknown::clocks] > 1000);
}

struct Collective {
  const char* function;
  WaitKind kind;
  // Whether `rank` may wait for `other`, by MPI's rules.
  bool (*may_wait)(int rank, int other, int root);
};
constexpr Collective kCollectives[] = {
    {"MPI_Allreduce", WaitKind::wait_nxn, [](int, int, int) { return true; }},
    {"MPI_Barrier", WaitKind::wait_barrier, [](int, int, int) { return true; }},
    {"MPI_Scan", WaitKind::early_scan, [](int rank, int other, int) { return other < rank; }},
    {"MPI_Reduce", WaitKind::early_reduce, [](int rank, int, int root) { return rank == root; }},
    {"MPI_Bcast", WaitKind::late_broadcast,
     [](int rank, int other, int root) { return rank != root && other == root; }},
    {"MPI_Win_fence", WaitKind::rma_wait_at_fence, [](int, int, int) { return true; }},
};

// Of two hosts: only who has the clock of a rank can be said to have kept it waiting, and what
// follows is not known.
TEST_CASE("a wait in a collective operation is known as far as clocks can be compared") {
  std::map<std::pair<WaitKind, WaitUnknown>, std::int64_t> not_known;
  std::map<WaitKind, std::int64_t> known;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const int ranks = 2 + static_cast<int>(seed % 4), hosts = 1 + static_cast<int>(seed / 4 % 2);
    Program program(ranks, seed);
    for (int rank = 0; rank < ranks; ++rank) {
      program.builder.log(rank).monotonic_clock = static_cast<std::size_t>(rank % hosts);
    }
    for (int i = 0; i < 20; ++i) {
      const Collective& made =
          kCollectives[program.below(static_cast<int>(std::size(kCollectives)))];
      const bool fence = made.kind == WaitKind::rma_wait_at_fence;
      const int root = program.below(ranks);
      const std::int64_t end_ns = *std::max_element(program.now.begin(), program.now.end()) + 41;
      std::vector<Program::Entered> calls;
      for (int rank = 0; rank < ranks; ++rank) {
        calls.push_back(fence ? program.on_window(rank, made.function, INT32_MIN, end_ns)
                              : program.enter(rank, made.function, end_ns));
        if (!fence) program.job().calls[calls.back().call].peer = root;
      }
      for (int rank = 0; rank < ranks; ++rank) {
        Program::Entered own = calls[static_cast<std::size_t>(rank)];
        int last = -1;
        bool all = true;
        for (int other = 0; other < ranks; ++other) {
          if (other == rank || !made.may_wait(rank, other, root)) continue;
          const auto start_of = [&](int of) {
            return calls[static_cast<std::size_t>(of)].start_ns;
          };
          if (hosts > 1 && (fence || other % hosts != rank % hosts)) {
            all = false;
          } else if (last < 0 || start_of(other) > start_of(last)) {
            last = other;
          }
        }
        if (last >= 0) {
          const std::int64_t last_ns = calls[static_cast<std::size_t>(last)].start_ns;
          program.expect(made.kind, rank, last, own, last_ns);
          own.start_ns = std::max(own.start_ns, last_ns);
        }
        // Some may return early from a fence: only their times show who waits for whom.
        const WaitUnknown why = fence ? WaitUnknown::partner : WaitUnknown::clocks;
        if (!all) program.expect_unknown(made.kind, why, rank, own);
      }
    }
    program.find();
    const auto is_completion = [](const auto& wait) {
      const WaitKind kind = std::get<WaitKind>(wait.first);
      return kind == WaitKind::nxn_completion || kind == WaitKind::barrier_completion;
    };
    // When the last one entered is not known across clocks, nor is what follows.
    if (hosts > 1) CHECK(std::none_of(program.waits.begin(), program.waits.end(), is_completion));
    std::erase_if(program.waits, is_completion);
    CAPTURE(seed);
    CHECK(program.waits == program.expected);
    CHECK(program.unknown == program.expected_unknown);
    for (const auto& [who, ns] : program.unknown) {
      not_known[{std::get<WaitKind>(who), std::get<WaitUnknown>(who)}] += ns;
    }
    for (const auto& [who, ns] : program.waits) known[std::get<WaitKind>(who)] += ns;
  }
  for (const Collective& made : kCollectives) {
    const bool fence = made.kind == WaitKind::rma_wait_at_fence;
    CAPTURE(made.function);
    CHECK(known[made.kind] > 1000);
    CHECK(not_known[{made.kind, fence ? WaitUnknown::partner : WaitUnknown::clocks}] > 1000);
  }
}

TEST_CASE("the first call that is known to have completed an operation is the one that did") {
  Program program(1, 0);
  const auto enter = [&](const char* function) { return program.enter(0, function).call; };
  const CallIndex maker = enter("MPI_Bcast_init"), twice = enter("MPI_Ibarrier");
  const CallIndex never = enter("MPI_Iallreduce"), one_of = enter("MPI_Ibcast");
  const CallIndex first = enter("MPI_Start"), waits = enter("MPI_Wait");
  const CallIndex again = enter("MPI_Start"), any = enter("MPI_Waitany");
  const CallIndex all = enter("MPI_Waitall"), open = enter("MPI_Wait");
  program.job().calls[open].open = true;
  ProcessLog& log = program.builder.log(0);
  log.makers_of_started[first] = log.makers_of_started[again] = {maker};
  for (const CallIndex several : {any, all}) log.call_requests[several].handles = {1, 2};
  RolesOfCalls roles(program.job());
  // Of MPI_Waitany it was not recorded which of its requests ended.
  const std::vector<BegunCollective> rows = begun_collectives(program.job(), ProcessIndex(0), roles,
                                                              {{all, twice},
                                                               {waits, twice},
                                                               {any, one_of},
                                                               {all, one_of},
                                                               {open, never},
                                                               {waits, {first, maker}},
                                                               {open, {again, maker}}});
  const auto completed_by = [&](CallIndex begun) {
    for (const BegunCollective& row : rows) {
      if (row.begun == begun.number()) return row.completed;
    }
    return std::int64_t{-2};
  };
  REQUIRE(rows.size() == 5);
  CHECK(completed_by(twice) == waits.number());
  CHECK(completed_by(one_of) == all.number());
  CHECK(completed_by(never) == -1);
  CHECK(completed_by(first) == waits.number());
  CHECK(completed_by(again) == -1);
  for (const BegunCollective& row : rows) {
    const bool is_started = row.begun == first.number() || row.begun == again.number();
    CHECK(row.made == (is_started ? maker.number() : row.begun));
  }
}

}  // namespace uctrace::merge

// Waits of small random programs beside a naive evaluation: epochs of one-sided communication, and
// what is not known because of clocks or of a partner; and which calls completed what they began.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "log-merger/waits/begun_collectives.hpp"
#include "log-merger/waits/waits.hpp"
#include "tests/unit/called_job.hpp"

namespace uctrace::merge {
namespace {

using Times = std::map<std::tuple<WaitKind, int, int>, std::int64_t>;  // who waited for whom
using Unknown = std::map<std::tuple<WaitKind, WaitUnknown, int>, std::int64_t>;

struct Program : test::CalledJob {
  explicit Program(int ranks, unsigned seed) : CalledJob(ranks), now(places(ranks)), random(seed) {
    for (int rank = 0; rank < ranks; ++rank) {
      CommObject window;
      window.comm = kWorld;
      builder.log(rank).windows.push_back(window);
    }
  }

  static std::vector<std::int64_t> places(int ranks) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 0);
  }

  int below(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
  std::int64_t& now_of(int rank) { return now[static_cast<std::size_t>(rank)]; }

  struct Entered {
    CallIndex call;
    std::int64_t start_ns, end_ns;
  };

  // The next call of a rank: after some work, until `end_ns` or a little later than it began.
  Entered enter(int rank, const char* function, std::int64_t end_ns = 0) {
    const std::int64_t start_ns = now_of(rank) + 1 + below(40);
    const std::int64_t left_ns = std::max(end_ns, start_ns + 1 + below(10));
    now_of(rank) = left_ns;
    return {call(rank, function, start_ns, left_ns), start_ns, left_ns};
  }

  // The same on the window.
  Entered on_window(int rank, const char* function, int target = INT32_MIN,
                    std::int64_t end_ns = 0) {
    const Entered entered = enter(rank, function, end_ns);
    MpiCall& own = job().calls[entered.call];
    own.on_window = true;
    own.window = IndexOf<CommObject>(0);
    own.peer = target;
    return entered;
  }

  void find() {
    lay_out_messages();
    find_waits(job());
    for (const Wait& wait : job().run.waits) {
      const auto own = static_cast<int>(wait.process);
      if (wait.ns != 0) waits[{wait.kind, own, wait.cause_process}] += wait.ns;
      if (wait.unknown_ns != 0) unknown[{wait.kind, wait.unknown, own}] += wait.unknown_ns;
    }
    for (const Identity& identity : job().run.identities) {
      CHECK(identity.result == Verdict::holds);
    }
  }

  // What a naive reader adds: each nanosecond of the call before `until_ns`.
  void expect(WaitKind kind, int rank, int cause, const Entered& own, std::int64_t until_ns) {
    for (std::int64_t ns = own.start_ns; ns < own.end_ns && ns < until_ns; ++ns) {
      ++expected[{kind, rank, cause}];
    }
  }
  void expect_unknown(WaitKind kind, WaitUnknown why, int rank, const Entered& own) {
    expected_unknown[{kind, why, rank}] += own.end_ns - own.start_ns;
  }

  Times waits, expected;
  Unknown unknown, expected_unknown;
  std::vector<std::int64_t> now;
  std::mt19937 random;
};

}  // namespace

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
      // It may synchronise or not: all leave it after the last one, or as they like.
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

// Half of the ranks expose windows to one of the others each.
TEST_CASE("waits in access and exposure epochs of random programs are the naive ones") {
  std::map<WaitKind, std::int64_t> waited;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const int pairs = 1 + static_cast<int>(seed % 3);
    Program program(2 * pairs, seed);
    for (int epoch = 0; epoch < 20; ++epoch) {
      const int target = program.below(pairs), origin = pairs + target;
      const auto post = program.on_window(target, "MPI_Win_post");
      program.told.push_back({post.call, origin});
      std::vector<Program::Entered> access = {
          program.on_window(origin, "MPI_Win_start", INT32_MIN,
                            program.below(2) * (post.start_ns + program.below(20)))};
      for (int put = program.below(3); put >= 0; --put) {
        access.push_back(program.on_window(origin, "MPI_Put", target));
      }
      access.push_back(program.on_window(origin, "MPI_Win_complete", INT32_MIN,
                                         program.below(2) * (post.start_ns + program.below(20))));
      const auto wait = program.on_window(target, "MPI_Win_wait", INT32_MIN,
                                          program.below(2) * (access.back().end_ns + 1));
      for (const auto& own : access) {
        program.expect(WaitKind::rma_late_post, origin, target, own,
                       own.end_ns > post.start_ns ? post.start_ns : 0);
      }
      program.expect(WaitKind::rma_early_wait, target, origin, wait, access.back().start_ns);
    }
    program.find();
    CAPTURE(seed);
    CHECK(program.waits == program.expected);
    CHECK(program.unknown.empty());
    for (const auto& [who, ns] : program.waits) waited[std::get<WaitKind>(who)] += ns;
  }
  CHECK(waited[WaitKind::rma_late_post] > 1000);
  CHECK(waited[WaitKind::rma_early_wait] > 1000);
}

// Each rank exposes its window to any others, one after the other, and accesses theirs.
TEST_CASE("exposures are for the origins that they tell") {
  std::map<WaitKind, std::int64_t> waited;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const int ranks = 3 + static_cast<int>(seed % 3);
    Program program(ranks, seed);
    for (int epoch = 0; epoch < 20; ++epoch) {
      const int target = program.below(ranks);
      const int origin = (target + 1 + program.below(ranks - 1)) % ranks;
      const auto post = program.on_window(target, "MPI_Win_post");
      program.told.push_back({post.call, origin});
      const std::vector<Program::Entered> access = {
          program.on_window(origin, "MPI_Win_start"), program.on_window(origin, "MPI_Put", target),
          program.on_window(origin, "MPI_Win_complete", INT32_MIN,
                            post.start_ns + program.below(20))};
      const auto wait =
          program.on_window(target, "MPI_Win_wait", INT32_MIN, access.back().start_ns + 1);
      for (const auto& own : access) {
        program.expect(WaitKind::rma_late_post, origin, target, own,
                       own.end_ns > post.start_ns ? post.start_ns : 0);
      }
      program.expect(WaitKind::rma_early_wait, target, origin, wait, access.back().start_ns);
    }
    program.find();
    CAPTURE(seed);
    CHECK(program.waits == program.expected);
    CHECK(program.unknown.empty());
    for (const auto& [who, ns] : program.waits) waited[std::get<WaitKind>(who)] += ns;
  }
  CHECK(waited[WaitKind::rma_late_post] > 1000);
  CHECK(waited[WaitKind::rma_early_wait] > 1000);
}

namespace {

// Rank 0 exposes its window, rank 1 accesses it and rank 2 may.
struct ExposedToTwo {
  explicit ExposedToTwo(bool third_moves) {
    const auto post = program.on_window(0, "MPI_Win_post");
    posted = post.call;
    for (const int origin : {1, 2}) {
      program.on_window(origin, "MPI_Win_start");
      if (origin == 1 || third_moves) program.on_window(origin, "MPI_Put", 0);
      last = program.on_window(origin, "MPI_Win_complete", INT32_MIN, 500 * origin);
      if (origin == 1) first = last;
    }
    wait = program.on_window(0, "MPI_Win_wait", INT32_MIN, 2000);
  }

  // How long it is unknown what rank 0 waited for.
  std::int64_t unknown_ns() {
    program.find();
    return program.unknown[{WaitKind::rma_early_wait, WaitUnknown::partner, 0}];
  }

  Program program{3, 1};
  CallIndex posted;
  Program::Entered first, last, wait;
};

}  // namespace

TEST_CASE("an exposure that tells an origin of which no access is known may wait for it") {
  for (const bool third_moves : {true, false}) {
    ExposedToTwo exposure(third_moves);
    exposure.program.told = {{exposure.posted, 1}, {exposure.posted, 2}};
    CAPTURE(third_moves);
    const std::int64_t until = exposure.wait.end_ns;
    CHECK(exposure.unknown_ns() == (third_moves ? 0 : until - exposure.first.start_ns));
  }
}

TEST_CASE("an exposure that tells a process without a log may wait for it") {
  ExposedToTwo exposure(true);
  exposure.program.told = {
      {exposure.posted, 1}, {exposure.posted, 2}, {exposure.posted, ProcessIndex()}};
  CHECK(exposure.unknown_ns() == exposure.wait.end_ns - exposure.last.start_ns);
}

TEST_CASE("an exposure that tells nobody may wait for each process of the window") {
  for (const bool third_moves : {true, false}) {
    ExposedToTwo exposure(third_moves);
    CAPTURE(third_moves);
    const std::int64_t until = exposure.wait.end_ns;
    CHECK(exposure.unknown_ns() == (third_moves ? 0 : until - exposure.first.start_ns));
  }
}

TEST_CASE("where some exposures tell nobody, those that tell an origin are not all for it") {
  Program program(2, 1);
  const auto access = [&](bool moves) {
    program.on_window(1, "MPI_Win_start");
    if (moves) program.on_window(1, "MPI_Put", 0);
    program.on_window(1, "MPI_Win_complete");
  };
  // The first access moves nothing; the second exposure tells nobody.
  for (const bool tells : {true, false}) {
    const auto post = program.on_window(0, "MPI_Win_post");
    if (tells) program.told.push_back({post.call, 1});
    access(!tells);
    program.on_window(0, "MPI_Win_wait", INT32_MIN, program.now_of(1) + 100);
  }
  program.find();
  CHECK(program.waits.empty());
  CHECK(program.unknown[{WaitKind::rma_early_wait, WaitUnknown::partner, 0}] > 0);
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
    // Whether it could have taken another message first is another question.
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
        // Some may return early from a fence: who waits for whom is seen by their times alone.
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

namespace {

struct Called {
  const char* function;
  std::int32_t peer = log::MpiCall::kNone, tag = log::MpiCall::kNone;
};

// Rank 0 probes for a message of rank 1 with tag 5, calls some others and receives it.
struct Probing {
  explicit Probing(const std::vector<Called>& between, Called by = {"MPI_Probe", 1, 5}) {
    probe = call(by, 300);
    for (const Called& one : between) call(one, 0);
    const auto receive = call({"MPI_Recv", 1, 5}, 0);
    program.now_of(1) = 200;
    send = program.enter(1, "MPI_Send");
    program.sent.push_back({send.call, receive.call, send.start_ns, receive.end_ns});
    program.find();
  }

  Program::Entered call(const Called& called, std::int64_t end_ns) {
    const auto entered = program.enter(0, called.function, end_ns);
    MpiCall& row = program.job().calls[entered.call];
    row.peer = row.recv_peer = called.peer;
    row.tag = row.recv_tag = called.tag;
    return entered;
  }

  Program program{2, 1};
  Program::Entered probe, send;
};

}  // namespace

TEST_CASE("a probe waits for the sender of the message that the next receive of its kind takes") {
  constexpr std::int32_t kAny = log::MpiCall::kAny;
  const std::vector<Called> harmless[] = {
      {},
      {{"MPI_Recv", 1, 6}, {"MPI_Irecv", 0, 5}, {"MPI_Irecv", 0, kAny}, {"MPI_Send", 1, 5}},
      {{"MPI_Probe", 1, 5}},
      {{"MPI_Sendrecv", 1, 6}, {"MPI_Improbe", 0, 5}}};
  for (const std::vector<Called>& between : harmless) {
    Probing probing(between);
    CAPTURE(between.size());
    const Program& program = probing.program;
    CHECK(program.waits.at({WaitKind::late_sender, 0, 1}) ==
          probing.send.start_ns - probing.probe.start_ns);
    CHECK(!program.unknown.contains({WaitKind::late_sender, WaitUnknown::request, 0}));
  }
}

TEST_CASE("what a probe found is not known where another receive may have taken it") {
  constexpr std::int32_t kAny = log::MpiCall::kAny;
  for (const Called& one :
       {Called{"MPI_Recv", kAny, 5}, Called{"MPI_Irecv", 1, kAny}, Called{"MPI_Mprobe", 1, 5},
        Called{"MPI_Sendrecv", kAny, kAny}, Called{"MPI_Startall"}}) {
    Probing probing({one});
    CAPTURE(one.function);
    CHECK(probing.program.unknown.contains({WaitKind::late_sender, WaitUnknown::request, 0}));
  }
  for (const Called& by : {Called{"MPI_Probe", kAny, 5}, Called{"MPI_Probe", 1, kAny}}) {
    CHECK(
        Probing({}, by).program.unknown.contains({WaitKind::late_sender, WaitUnknown::request, 0}));
  }
}

}  // namespace uctrace::merge

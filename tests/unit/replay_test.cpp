// The replay of a run, and hypotheses on it, compared with an evaluator without a fixed order: it
// advances whatever can advance until everything is done.
#include "log-merger/replay/replay.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <vector>

namespace uctrace::replay {
namespace {

using Random = std::mt19937_64;

// A program of ranks that compute and call; and their dependencies.
struct PlayedProgram {
  struct Step {
    std::int64_t compute_ns, in_call_ns;
    std::int32_t call;
  };
  std::vector<std::vector<Step>> ranks;
  std::vector<Dependency> dependencies;
  std::int32_t calls = 0;
};

std::int32_t add_call(PlayedProgram& program, std::size_t rank, Random& random) {
  program.ranks[rank].push_back({static_cast<std::int64_t>(random() % 1000),
                                 static_cast<std::int64_t>(random() % 50), program.calls});
  return program.calls++;
}

void add_operation(PlayedProgram& program, Random& random, std::int32_t number) {
  std::vector<std::int32_t> calls;
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    calls.push_back(add_call(program, rank, random));
  }
  const std::size_t root = random() % calls.size();
  const std::uint64_t shape = random() % 4;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Dependency one{.call = calls[i], .begun = calls[i]};
    if (shape == 0) {
      one.kind = DependencyKind::operation;
      one.operation = number;
      program.dependencies.push_back(one);
    } else if (shape == 1 && i > 0) {
      one.kind = DependencyKind::lower_rank;
      one.on = calls[i - 1];
      program.dependencies.push_back(one);
    } else if (shape > 1 && i != root) {
      one.kind = DependencyKind::member;
      one.on = calls[root];
      if (shape == 3) std::swap(one.on, one.call);
      program.dependencies.push_back(one);
    }
  }
}

void add_message(PlayedProgram& program, Random& random, std::int32_t number) {
  const std::size_t from = random() % program.ranks.size();
  const std::size_t to = (from + 1 + random() % (program.ranks.size() - 1)) % program.ranks.size();
  const std::int32_t sent = add_call(program, from, random);
  const std::int32_t received = add_call(program, to, random);
  program.dependencies.push_back({DependencyKind::message, received, received, sent, number, -1});
  if (random() % 3 == 0) {  // by rendezvous
    program.dependencies.push_back({DependencyKind::receiver, sent, sent, received, number, -1});
  }
}

PlayedProgram random_program(Random& random) {
  PlayedProgram program;
  program.ranks.resize(2 + random() % 4);
  for (std::int32_t step = 0; step < 30; ++step) {
    random() % 2 == 0 ? add_operation(program, random, step) : add_message(program, random, step);
  }
  return program;
}

// How a program runs where computing and calls of a rank take 1 / divisor of their time, and
// messages `way_ns`, if that is not -1.
struct Changed {
  std::vector<std::int64_t> compute_divisor, call_divisor;
  std::int64_t way_ns = -1;
};

class Naive {
 public:
  Naive(const PlayedProgram& program, const Changed& changed)
      : program_(program),
        changed_(changed),
        entered_(static_cast<std::size_t>(program.calls)),
        left_(entered_.size()) {
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) goes_on |= step(rank);
    }
  }

  std::vector<Call> calls() const {
    std::vector<Call> calls(entered_.size());
    for (std::size_t rank = 0; rank < program_.ranks.size(); ++rank) {
      for (const PlayedProgram::Step& step : program_.ranks[rank]) {
        const auto place = static_cast<std::size_t>(step.call);
        REQUIRE(left_[place]);
        calls[place] = {*entered_[place], *left_[place], static_cast<std::uint32_t>(rank),
                        Part::of_run};
      }
    }
    return calls;
  }

  std::int64_t end_of(std::size_t rank) const {
    return *left_[static_cast<std::size_t>(program_.ranks[rank].back().call)];
  }

 private:
  std::optional<std::int64_t> entered(std::int32_t call) const {
    return entered_[static_cast<std::size_t>(call)];
  }

  // When what it depends on was there; nothing where that is not known yet.
  std::optional<std::int64_t> ready(const Dependency& one) const {
    if (one.kind == DependencyKind::operation) {
      std::int64_t last = 0;
      for (const Dependency& other : program_.dependencies) {
        if (other.operation != one.operation) continue;
        if (!entered(other.begun)) return std::nullopt;
        last = std::max(last, *entered(other.begun));
      }
      return last;
    }
    auto last = entered(one.on);
    if (one.kind == DependencyKind::lower_rank) {
      for (const Dependency& lower : program_.dependencies) {
        if (lower.kind != one.kind || lower.begun != one.on) continue;
        const auto below = ready(lower);
        last = last && below ? std::optional(std::max(*last, *below)) : std::nullopt;
      }
    }
    return last;
  }

  bool step(std::size_t rank) {
    const auto& steps = program_.ranks[rank];
    std::size_t& at = at_[rank];
    if (at == steps.size()) return false;
    const PlayedProgram::Step& step = steps[at];
    auto& entry = entered_[static_cast<std::size_t>(step.call)];
    bool did = false;
    if (!entry) {
      entry = now_[rank] + step.compute_ns / changed_.compute_divisor[rank];
      did = true;
    }
    std::int64_t begins = *entry;
    std::optional<std::int64_t> arrived;
    bool as_it_did = false;
    for (const Dependency& one : program_.dependencies) {
      if (one.call != step.call) continue;
      const auto when = ready(one);
      if (!when) return did;
      if (one.message >= 0 && changed_.way_ns >= 0) {
        const std::int64_t both = std::max(*when, *entered(one.begun));
        arrived = std::max(arrived.value_or(0), both + changed_.way_ns);
      } else {
        begins = std::max(begins, *when);
        as_it_did = true;
      }
    }
    std::int64_t left = begins + step.in_call_ns / changed_.call_divisor[rank];
    if (arrived) left = as_it_did ? std::max(left, *arrived) : std::max(*entry, *arrived);
    left_[static_cast<std::size_t>(step.call)] = now_[rank] = left;
    ++at;
    return true;
  }

  const PlayedProgram& program_;
  const Changed& changed_;
  std::vector<std::optional<std::int64_t>> entered_, left_;
  std::map<std::size_t, std::int64_t> now_;
  std::map<std::size_t, std::size_t> at_;
};

// The same changes for the replay.
class ChangedRun final : public Times {
 public:
  ChangedRun(const std::vector<Call>& calls, const Changed& changed)
      : calls_(calls), changed_(changed) {}
  std::int64_t computing_ns(const Computing& one) override {
    return (one.to_ns - one.from_ns) / changed_.compute_divisor[one.process];
  }
  std::int64_t in_call_ns(std::int32_t call, std::int64_t ns) override {
    return ns / changed_.call_divisor[calls_[static_cast<std::size_t>(call)].process];
  }
  std::optional<Way> way_of(std::int32_t) override {
    return changed_.way_ns < 0 ? std::nullopt : std::optional(Way{changed_.way_ns, true});
  }

 private:
  const std::vector<Call>& calls_;
  const Changed& changed_;
};

// Each rank begins when MPI_Init is left, at 0.
struct Recorded {
  std::vector<Call> calls;
  std::vector<Dependency> dependencies;
};

Recorded recorded(const PlayedProgram& program) {
  const std::vector<std::int64_t> ones(program.ranks.size(), 1);
  const Changed as_it_was{ones, ones};
  Recorded run{Naive(program, as_it_was).calls(), program.dependencies};
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    run.calls.push_back({0, 0, static_cast<std::uint32_t>(rank), Part::start_of_mpi});
  }
  return run;
}

TEST_CASE("replay: as it was, every rank ends when it did, to the nanosecond") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const PlayedProgram program = random_program(random);
    const Recorded run = recorded(program);
    Times as_it_was;
    const Replayed replayed = replay(run.calls, run.dependencies, program.ranks.size(), as_it_was);
    CHECK(replayed.contradicted == 0);
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
      std::int64_t end = 0, computed = 0;
      for (const PlayedProgram::Step& step : program.ranks[rank]) {
        end = std::max(end, run.calls[static_cast<std::size_t>(step.call)].end_ns);
        computed += step.compute_ns;
      }
      CHECK(replayed.processes[rank].begin_ns == 0);
      CHECK(replayed.processes[rank].end_ns == end);
      CHECK(replayed.processes[rank].computing_ns == computed);
    }
  }
}

TEST_CASE("replay: changed, every rank ends when the changed program does") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const PlayedProgram program = random_program(random);
    const Recorded run = recorded(program);
    Changed changed;
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
      changed.compute_divisor.push_back(1 + static_cast<std::int64_t>(random() % 3));
      changed.call_divisor.push_back(1 + static_cast<std::int64_t>(random() % 3));
    }
    if (seed % 3 == 0) changed.way_ns = static_cast<std::int64_t>(random() % 2000);
    const Naive truth(program, changed);
    ChangedRun times(run.calls, changed);
    const Replayed replayed = replay(run.calls, run.dependencies, program.ranks.size(), times);
    for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
      if (program.ranks[rank].empty()) continue;
      CHECK(replayed.processes[rank].end_ns == truth.end_of(rank));
    }
  }
}

TEST_CASE("replay: a call that begins when the one before it ends is entered after that") {
  // Rank 0 receives what rank 1 sends at 900, and sends in turn without a pause.
  const std::vector<Call> calls = {
      {10, 1000, 0}, {1000, 1010, 0}, {1010, 1011, 0, Part::end_of_mpi}, {0, 1, 1}, {900, 910, 1}};
  Times times;
  const std::vector<Dependency> of_message = {{DependencyKind::message, 0, 0, 4, 0, -1}};
  CHECK(replay(calls, of_message, 2, times).processes[0].computing_ns == 0);
  // All of a barrier come and go at one instant, of which one comes last.
  const std::vector<Call> barrier = {{5, 20, 0}, {20, 20, 1}, {10, 20, 1}};
  std::vector<Dependency> members;
  for (const std::int32_t call : {0, 1}) {
    members.push_back({DependencyKind::operation, call, call, -1, -1, 0});
  }
  const Replayed replayed = replay(barrier, members, 2, times);
  CHECK(replayed.contradicted == 0);
  CHECK(replayed.followed == 2);
}

TEST_CASE("replay: who also waited for what is not known is not freed by a faster network") {
  class Fast : public Times {
   public:
    std::optional<Way> way_of(std::int32_t) override { return Way{5, false}; }
  };
  class FastBeside final : public Fast {
   public:
    bool waits_for_unknown(std::int32_t) override { return true; }
  };
  const std::vector<Call> calls = {{0, 1000, 0}, {100, 110, 1}};
  const std::vector<Dependency> of_message = {{DependencyKind::message, 0, 0, 1, 0, -1}};
  Fast alone;
  CHECK(replay(calls, of_message, 2, alone).processes[0].end_ns == 105);
  FastBeside beside;
  CHECK(replay(calls, of_message, 2, beside).processes[0].end_ns == 1000);
}

TEST_CASE("replay: what the clocks contradict is left out and counted") {
  // The message is recorded as sent after it was received.
  const std::vector<Call> calls = {{100, 110, 0}, {0, 50, 1}};
  Times times;
  const Replayed replayed = replay(calls, {{DependencyKind::message, 1, 1, 0, 0, -1}}, 2, times);
  CHECK(replayed.contradicted == 1);
  CHECK(replayed.followed == 0);
  CHECK(replayed.processes[1].end_ns == 50);
}

TEST_CASE("replay: rows of a damaged store do no harm") {
  const std::vector<Call> calls = {{0, 10, 0}, {5, 20, 1}, {-1, -1, 1}, {30, -1, 0}};
  Times times;
  // A circle of ranks, calls that are not there, an operation without a number.
  const Replayed replayed = replay(calls,
                                   {{DependencyKind::lower_rank, 0, 0, 1, -1, -1},
                                    {DependencyKind::lower_rank, 1, 1, 0, -1, -1},
                                    {DependencyKind::operation, 1, 1, -1, -1, -1},
                                    {DependencyKind::message, 1, -1, 2, 9, -1},
                                    {DependencyKind::message, -1, 1, 0, 9, -1}},
                                   2, times);
  CHECK(replayed.processes[0].end_ns == 10);
  CHECK(replayed.processes[1].end_ns == 20);
}

TEST_CASE("replay: a call inside of another one of its thread ends before it") {
  const std::vector<Call> calls = {{0, 1, 0, Part::start_of_mpi}, {10, 100, 0}, {90, 95, 0}};
  Times times;
  const Replayed replayed = replay(calls, {}, 1, times);
  CHECK(replayed.processes[0].end_ns == 100);
  CHECK(replayed.processes[0].computing_ns == 9 + 80);
}

TEST_CASE("replay: times beyond all bounds do not overflow") {
  class Endless final : public Times {
   public:
    std::int64_t computing_ns(const Computing&) override { return INT64_MAX; }
    std::int64_t in_call_ns(std::int32_t, std::int64_t) override { return INT64_MAX; }
  };
  Endless times;
  const std::vector<Call> calls = {{0, 1, 0}, {2, 3, 0}, {4, 5, 0}};
  CHECK(replay(calls, {}, 1, times).processes[0].end_ns == INT64_MAX / 4);
}

}  // namespace
}  // namespace uctrace::replay

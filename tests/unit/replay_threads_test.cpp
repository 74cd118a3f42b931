// The replay of ranks of several threads: unchanged, with any calls; and changed, compared with an
// evaluator of programs whose threads fork after a serial call and join before the next one.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "log-merger/replay/replay.hpp"

namespace uctrace::replay::of_threads {
namespace {

using Random = std::mt19937_64;

std::int64_t below(Random& random, std::int64_t limit) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
}

// A program of processes that go through phases: in each the first thread makes a serial call, then
// all threads compute and call, each by itself, until the next serial call waits for all of them.
struct ThreadedProgram {
  struct Step {
    std::int64_t compute_ns, in_call_ns;
    std::int32_t call;
    std::size_t phase;
    bool serial;
  };
  std::vector<std::vector<std::vector<Step>>> threads;  // by process, thread, time
  std::vector<Dependency> dependencies;
  std::int32_t calls = 0;
};

std::int32_t add_call(ThreadedProgram& program, Random& random, std::size_t process,
                      std::size_t thread, std::size_t phase, bool serial) {
  program.threads[process][thread].push_back(
      {1 + below(random, 1'000'000), below(random, 50'000), program.calls, phase, serial});
  return program.calls++;
}

// Each step of it depends on earlier ones only, so that the program ends.
ThreadedProgram random_program(Random& random) {
  ThreadedProgram program;
  program.threads.resize(static_cast<std::size_t>(2 + below(random, 3)));
  for (auto& process : program.threads)
    process.resize(static_cast<std::size_t>(1 + below(random, 4)));
  const auto any_thread = [&](std::size_t process) {
    return static_cast<std::size_t>(below(random, std::ssize(program.threads[process])));
  };
  for (std::size_t phase = 0; phase < 6; ++phase) {
    for (std::size_t process = 0; process < program.threads.size(); ++process) {
      const std::int32_t call = add_call(program, random, process, 0, phase, true);
      if (phase % 2 != 0) continue;  // each even phase begins with a barrier of all
      Dependency one{.kind = DependencyKind::operation, .call = call, .begun = call};
      one.operation = static_cast<std::int32_t>(phase);
      program.dependencies.push_back(one);
    }
    for (std::int32_t i = 0; i < 8; ++i) {
      // Also from a process to itself, by two of its threads.
      const auto processes = std::ssize(program.threads);
      const auto from = static_cast<std::size_t>(below(random, processes));
      const auto to = static_cast<std::size_t>(below(random, processes));
      const std::size_t sender = any_thread(from), receiver = any_thread(to);
      if (from == to && sender == receiver) continue;
      const std::int32_t sent = add_call(program, random, from, sender, phase, false);
      const std::int32_t received = add_call(program, random, to, receiver, phase, false);
      program.dependencies.push_back({DependencyKind::message, received, received, sent, i, -1});
    }
  }
  return program;
}

// By process: computing and calls take 1 / divisor of their time.
struct Changed {
  std::vector<std::int64_t> compute_divisor, call_divisor;
};

// It advances any thread that can advance until everything is done.
class Naive {
 public:
  Naive(const ThreadedProgram& program, const Changed& changed)
      : program_(program),
        changed_(changed),
        entered_(static_cast<std::size_t>(program.calls)),
        left_(entered_.size()) {
    for (const auto& process : program.threads) {
      done_.emplace_back(process.size(), 0);
    }
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (std::size_t process = 0; process < program.threads.size(); ++process) {
        for (std::size_t thread = 0; thread < program.threads[process].size(); ++thread) {
          goes_on |= step(process, thread);
        }
      }
    }
  }

  std::int64_t entered(std::int32_t call) const {
    return *entered_[static_cast<std::size_t>(call)];
  }
  std::int64_t left(std::int32_t call) const { return *left_[static_cast<std::size_t>(call)]; }

 private:
  using Step = ThreadedProgram::Step;

  // When all calls of the process of earlier phases were left, or its serial call of this phase
  // was.
  std::optional<std::int64_t> met(std::size_t process, const Step& before) const {
    std::int64_t last = 0;
    for (const auto& thread : program_.threads[process]) {
      for (const Step& step : thread) {
        const bool counts =
            before.serial ? step.phase < before.phase : step.phase == before.phase && step.serial;
        if (!counts) continue;
        const auto& left = left_[static_cast<std::size_t>(step.call)];
        if (!left) return std::nullopt;
        last = std::max(last, *left);
      }
    }
    return last;
  }

  std::optional<std::int64_t> ready(const Dependency& one) const {
    if (one.kind != DependencyKind::operation) return entered_[static_cast<std::size_t>(one.on)];
    std::int64_t last = 0;
    for (const Dependency& other : program_.dependencies) {
      if (other.operation != one.operation) continue;
      const auto& entered = entered_[static_cast<std::size_t>(other.begun)];
      if (!entered) return std::nullopt;
      last = std::max(last, *entered);
    }
    return last;
  }

  bool step(std::size_t process, std::size_t thread) {
    const auto& steps = program_.threads[process][thread];
    std::size_t& at = done_[process][thread];
    if (at == steps.size()) return false;
    const Step& step = steps[at];
    auto& entry = entered_[static_cast<std::size_t>(step.call)];
    bool did = false;
    if (!entry) {
      const bool goes_on_from_own = at > 0 && !step.serial && steps[at - 1].phase == step.phase;
      const auto from = goes_on_from_own ? left_[static_cast<std::size_t>(steps[at - 1].call)]
                                         : met(process, step);
      if (!from) return false;
      entry = *from + step.compute_ns / changed_.compute_divisor[process];
      did = true;
    }
    std::int64_t begins = *entry;
    for (const Dependency& one : program_.dependencies) {
      if (one.call != step.call) continue;
      const auto when = ready(one);
      if (!when) return did;
      begins = std::max(begins, *when);
    }
    left_[static_cast<std::size_t>(step.call)] =
        begins + step.in_call_ns / changed_.call_divisor[process];
    ++at;
    return true;
  }

  const ThreadedProgram& program_;
  const Changed& changed_;
  std::vector<std::optional<std::int64_t>> entered_, left_;
  std::vector<std::vector<std::size_t>> done_;
};

// All processes begin at 0.
std::vector<Call> recorded(const ThreadedProgram& program) {
  const std::vector<std::int64_t> ones(program.threads.size(), 1);
  const Changed as_it_was{ones, ones};
  const Naive naive(program, as_it_was);
  std::vector<Call> calls(static_cast<std::size_t>(program.calls));
  for (std::size_t process = 0; process < program.threads.size(); ++process) {
    for (std::size_t thread = 0; thread < program.threads[process].size(); ++thread) {
      for (const ThreadedProgram::Step& step : program.threads[process][thread]) {
        calls[static_cast<std::size_t>(step.call)] = {naive.entered(step.call),
                                                      naive.left(step.call),
                                                      static_cast<std::uint32_t>(process),
                                                      Part::of_run,
                                                      step.serial,
                                                      static_cast<std::uint16_t>(thread)};
      }
    }
    calls.push_back({0, 0, static_cast<std::uint32_t>(process), Part::start_of_mpi, true});
  }
  return calls;
}

// Notes when each call was entered and left.
class Noting : public Times {
 public:
  explicit Noting(std::size_t calls) : entered_ns(calls, -1), left_ns(calls, -1) {}
  void replayed(std::int32_t call, std::int64_t entered, std::int64_t left) override {
    entered_ns[static_cast<std::size_t>(call)] = entered;
    left_ns[static_cast<std::size_t>(call)] = left;
  }
  std::vector<std::int64_t> entered_ns, left_ns;
};

class NotingChanged final : public Noting {
 public:
  NotingChanged(const std::vector<Call>& calls, const Changed& changed)
      : Noting(calls.size()), calls_(calls), changed_(changed) {}
  std::int64_t computing_ns(const Computing& one) override {
    return (one.to_ns - one.from_ns) / changed_.compute_divisor[one.process];
  }
  std::int64_t in_call_ns(std::int32_t call, std::int64_t ns) override {
    return ns / changed_.call_divisor[calls_[static_cast<std::size_t>(call)].process];
  }

 private:
  const std::vector<Call>& calls_;
  const Changed& changed_;
};

TEST_CASE("replay: threads that part and meet, changed, call when the changed program does") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const ThreadedProgram program = random_program(random);
    const std::vector<Call> calls = recorded(program);
    Changed changed;
    for (std::size_t process = 0; process < program.threads.size(); ++process) {
      changed.compute_divisor.push_back(1 + below(random, 3));
      changed.call_divisor.push_back(1 + below(random, 3));
    }
    const Naive truth(program, changed);
    NotingChanged times(calls, changed);
    const Replayed replayed = replay(calls, program.dependencies, program.threads.size(), times);
    CHECK(replayed.contradicted == 0);
    for (std::int32_t call = 0; call < program.calls; ++call) {
      CHECK(times.entered_ns[static_cast<std::size_t>(call)] == truth.entered(call));
      CHECK(times.left_ns[static_cast<std::size_t>(call)] == truth.left(call));
    }
  }
}

// Calls of threads at any times, some of them serial, some of which end what others began.
struct AnyRun {
  std::vector<Call> calls;
  std::vector<Dependency> dependencies;
};

AnyRun any_run(Random& random, std::uint32_t processes) {
  AnyRun run;
  for (std::uint32_t process = 0; process < processes; ++process) {
    // Some are recorded from MPI_Init on, some from anywhere.
    if (below(random, 2) == 0) run.calls.push_back({0, 5, process, Part::start_of_mpi, true});
    const auto threads = static_cast<std::uint16_t>(1 + below(random, 4));
    for (std::uint16_t lane = 0; lane < threads; ++lane) {
      std::int64_t now = 5 + below(random, 40);
      for (std::int64_t i = below(random, 15); i > 0; --i) {
        const std::int64_t start = now + below(random, 30);
        now = start + below(random, 30);
        run.calls.push_back({start, now, process, Part::of_run, below(random, 3) == 0, lane});
      }
    }
  }
  const auto any = [&] { return static_cast<std::int32_t>(below(random, std::ssize(run.calls))); };
  for (int i = 0; i < 40 && !run.calls.empty(); ++i) {
    run.dependencies.push_back({DependencyKind::message, any(), any(), any(), -1, -1});
  }
  return run;
}

TEST_CASE("replay: as it was, every call of every thread is entered and left when it was") {
  std::uint64_t followed = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const std::uint32_t processes = 1 + static_cast<std::uint32_t>(below(random, 3));
    const AnyRun run = any_run(random, processes);
    Noting times(run.calls.size());
    followed += replay(run.calls, run.dependencies, processes, times).followed;
    for (std::size_t i = 0; i < run.calls.size(); ++i) {
      if (run.calls[i].part != Part::of_run) continue;
      CHECK(times.entered_ns[i] == run.calls[i].start_ns);
      CHECK(times.left_ns[i] == run.calls[i].end_ns);
    }
  }
  CHECK(followed > 1000);
}

// What one lane computes takes half as long.
class HalfOf final : public Noting {
 public:
  HalfOf(std::size_t calls, std::uint16_t lane) : Noting(calls), lane_(lane) {}
  std::int64_t computing_ns(const Computing& one) override {
    const std::int64_t ns = one.to_ns - one.from_ns;
    return one.lane == lane_ ? ns / 2 : ns;
  }

 private:
  std::uint16_t lane_;
};

TEST_CASE("replay: a thread that is faster delays nobody less who did not wait for it") {
  const std::vector<Call> calls = {{0, 0, 0, Part::start_of_mpi, true, 0},
                                   {40, 50, 0, Part::of_run, false, 0},
                                   {100, 110, 0, Part::of_run, false, 1},
                                   {120, 130, 0, Part::of_run, true, 0},
                                   {150, 160, 0, Part::of_run, false, 1}};
  HalfOf first(calls.size(), 0), second(calls.size(), 1);
  replay(calls, {}, 1, first);
  CHECK(first.entered_ns[1] == 20);
  CHECK(first.entered_ns[2] == 100);  // by itself
  CHECK(first.entered_ns[3] == 115);  // after both: 10 from 110 on, halved
  CHECK(first.entered_ns[4] == 145);  // from the end of the serial call on
  replay(calls, {}, 1, second);
  CHECK(second.entered_ns[1] == 40);
  CHECK(second.entered_ns[2] == 50);
  CHECK(second.entered_ns[3] == 70);  // the last one that is waited for comes at 60
  CHECK(second.entered_ns[4] == 90);
}

TEST_CASE("replay: a wait for what another thread began comes after it was begun") {
  // Lane 1 waits for what lane 0 began at 100.
  const std::vector<Call> calls = {{0, 0, 0, Part::start_of_mpi, true, 0},
                                   {100, 101, 0, Part::of_run, false, 0},
                                   {110, 120, 0, Part::of_run, false, 1},
                                   {50, 60, 1, Part::of_run, false, 0}};
  HalfOf faster(calls.size(), 0);
  replay(calls, {{DependencyKind::message, 2, 1, 3, 0, -1}}, 2, faster);
  CHECK(faster.entered_ns[1] == 50);
  CHECK(faster.entered_ns[2] == 60);
  CHECK(faster.left_ns[2] == 70);
}

}  // namespace
}  // namespace uctrace::replay::of_threads

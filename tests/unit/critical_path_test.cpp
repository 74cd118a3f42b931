// The critical path against a walk that goes back nanosecond by nanosecond.
#include "log-merger/waits/critical_path.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <utility>

using namespace uctrace;
using namespace uctrace::merge;

namespace {

using Place = std::pair<std::uint32_t, TextId>;                        // process, function
using Times = std::map<Place, std::pair<std::int64_t, std::int64_t>>;  // work, MPI

constexpr std::int64_t kEnd = 200;

// Processes of one thread, each call with a function of its own. Calls wait, from where they begin
// to where a random call of another process begins within them.
Run random_run(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(random() % n); };
  Run run;
  const std::uint32_t processes = 2 + random() % 3;
  run.processes.resize(processes);
  for (std::uint32_t process = 0; process < processes; ++process) {
    RankTime rank;
    rank.process = process;
    rank.t_begin_ns = below(5);
    rank.t_end_ns = kEnd + below(20);
    for (std::int64_t at = rank.t_begin_ns + below(9); at < kEnd - 30; at += below(9)) {
      MpiCallRow call;
      call.process = process;
      call.function = run.texts.intern("f" + std::to_string(run.mpi_calls.size()));
      call.t_start_ns = at;
      call.t_end_ns = at += below(20);
      run.mpi_calls.push_back(call);
    }
    MpiCallRow finalize;
    finalize.process = process;
    finalize.function = run.texts.intern("end" + std::to_string(process));
    finalize.t_start_ns = rank.t_end_ns;
    finalize.t_end_ns = rank.t_end_ns + 5;
    run.mpi_calls.push_back(finalize);
    run.rank_times.push_back(rank);
  }
  for (std::size_t row = 0; row < run.mpi_calls.size(); ++row) {
    const MpiCallRow& waiting = run.mpi_calls[row];
    const std::size_t late = random() % run.mpi_calls.size();
    const MpiCallRow& cause = run.mpi_calls[late];
    if (cause.process == waiting.process || cause.t_start_ns <= waiting.t_start_ns ||
        cause.t_start_ns > waiting.t_end_ns) {
      continue;
    }
    Wait wait;
    wait.process = waiting.process;
    wait.cause_process = static_cast<std::int32_t>(cause.process);
    wait.call = static_cast<std::int64_t>(row);
    wait.cause_call = static_cast<std::int64_t>(late);
    wait.t_start_ns = waiting.t_start_ns;
    wait.ns = cause.t_start_ns - waiting.t_start_ns;
    run.waits.push_back(wait);
  }
  return run;
}

class Naive {
 public:
  explicit Naive(const Run& run) : run_(run), used_(run.waits.size()) {}

  Times times() {
    std::int64_t at = -1;
    for (const RankTime& rank : run_.rank_times) {
      if (rank.t_end_ns > at) {
        at = rank.t_end_ns;
        process_ = rank.process;
      }
    }
    while (at > run_.rank_times[process_].t_begin_ns) {
      if (!jump(at)) {
        count(at);
        --at;
      }
    }
    return times_;
  }

 private:
  // Whether a wait of the process ends here, or covered this instant although it is already
  // handled.
  bool jump(std::int64_t at) {
    for (std::size_t row = 0; row < run_.waits.size(); ++row) {
      const Wait& wait = run_.waits[row];
      if (wait.process != process_ || used_[row] || wait.t_start_ns + wait.ns != at) continue;
      used_[row] = true;
      process_ = static_cast<std::uint32_t>(wait.cause_process);
      return true;
    }
    return false;
  }

  // The nanosecond that ends at `at`.
  void count(std::int64_t at) {
    const MpiCallRow* next = nullptr;
    for (const MpiCallRow& call : run_.mpi_calls) {
      if (call.process != process_) continue;
      if (call.t_start_ns < at && at <= call.t_end_ns) {
        ++times_[{process_, call.function}].second;
        return;
      }
      if (call.t_start_ns >= at && (!next || call.t_start_ns < next->t_start_ns)) next = &call;
    }
    ++times_[{process_, next->function}].first;
  }

  const Run& run_;
  std::vector<bool> used_;
  std::uint32_t process_ = 0;
  Times times_;
};

}  // namespace

TEST_CASE("the critical path is the one that a walk by nanoseconds finds") {
  std::size_t jumped = 0;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    const Run run = random_run(seed);
    Times found;
    std::int64_t length = 0;
    std::map<std::uint32_t, bool> processes;
    for (const CriticalPart& part : critical_path(run)) {
      found[{part.process, part.function}] = {part.work_ns, part.mpi_ns};
      length += part.work_ns + part.mpi_ns;
      processes[part.process] = true;
    }
    CAPTURE(seed);
    CHECK(found == Naive(run).times());
    CHECK(length >= kEnd - 5);
    jumped += processes.size() > 1 ? 1 : 0;
  }
  CHECK(jumped > 100);
}

TEST_CASE("two calls that each seem to have waited for the other end the path, not the walk") {
  Run run;
  run.processes.resize(2);
  for (std::uint32_t process = 0; process < 2; ++process) {
    RankTime rank;
    rank.process = process;
    rank.t_begin_ns = 0;
    rank.t_end_ns = 20;
    run.rank_times.push_back(rank);
    MpiCallRow first, second;
    first.process = second.process = process;
    first.t_start_ns = 5;
    first.t_end_ns = second.t_start_ns = 10;
    second.t_end_ns = 20;
    run.mpi_calls.push_back(first);
    run.mpi_calls.push_back(second);
  }
  for (std::int64_t row : {0, 2}) {
    Wait wait;
    wait.process = row == 0 ? 0 : 1;
    wait.cause_process = row == 0 ? 1 : 0;
    wait.call = row;
    wait.cause_call = row == 0 ? 3 : 1;
    wait.t_start_ns = 5;
    wait.ns = 5;
    run.waits.push_back(wait);
  }
  std::int64_t length = 0;
  for (const CriticalPart& part : critical_path(run)) length += part.work_ns + part.mpi_ns;
  CHECK(length == 20);
}

TEST_CASE("a run without MPI has no critical path") { CHECK(critical_path(Run{}).empty()); }

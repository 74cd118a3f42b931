// Under which names the ends of pairs are summed: of processes without ranks, of strangers, of
// ranks that come late or that several worlds have.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "tests/unit/counting_job.hpp"

namespace uctrace::live {
namespace {

using log::CounterClass;
using log::CounterKind;
using test::Job;
using test::kAll;
using test::to_peer;
using test::to_rank;

TEST_CASE(
    "processes without ranks are told by name; a stranger is one from the second reading on") {
  Job job;
  job.add(-1, 0);
  job.add(-1, 1);
  for (std::uint32_t i = 0; i < 2; ++i) {
    log::CounterSnapshot& process = job.reading.now[i];
    process.library.clear();
    std::strcpy(process.page.host, "node");
    process.page.pid = 10 + i;
    process.workers = {100 + i};
    process.peers = {{1, 101 - i}, {2, 77}, {3, 0}};
    process.rows[to_peer(1)] = {3, 300};
    process.rows[to_peer(2)] = {5, 500};
    process.rows[to_peer(3)] = {7, 700};
    process.rows[to_peer(4)] = {9, 900};  // its name is not there yet
  }
  JobCounters counters(kAll);
  counters.take(job.reading);
  using Named = std::map<std::pair<std::string, std::string>, ExactTotal>;
  const auto named = [&] {
    Named found;
    for (const auto& [pair, total] : counters.pairs().told()) {
      found[{counters.name_of(pair.rank), counters.name_of(pair.peer)}] += total;
    }
    return found;
  };
  Named expected = {{{"node:10", "node:11"}, {3, 300}},
                    {{"node:11", "node:10"}, {3, 300}},
                    {{"node:10", "unknown"}, {7, 700}},
                    {{"node:11", "unknown"}, {7, 700}}};
  CHECK(named() == expected);
  CHECK(counters.waiting()[1] == ExactTotal{28, 2800});
  job.reading.now[0].rows[to_peer(2)] = {6, 600};
  counters.take(job.reading);
  expected[{"node:10", "worker 0x4d"}] = {6, 600};
  expected[{"node:11", "worker 0x4d"}] = {5, 500};
  CHECK(named() == expected);
  CHECK(counters.waiting()[1] == ExactTotal{18, 1800});
}

TEST_CASE("strangers wait as long as files lag, or one of them may be about to be named") {
  Job job;
  log::CounterSnapshot& process = job.add(0, 0);
  process.peers[1] = 77;
  process.rows[to_peer(1)] = {5, 500};
  job.reading.processes[0].is_copy = true;
  JobCounters counters(kAll);
  job.reading.seconds = 4;
  for (int i = 0; i < 3; ++i) {
    counters.take(job.reading);
    CHECK(counters.waiting()[1] == ExactTotal{5, 500});
  }
  SUBCASE("some seconds") {}
  SUBCASE("or until the job has ended") {
    job.reading.seconds = 0;
    job.reading.processes[0].state = ProcessState::ended;
  }
  counters.take(job.reading);
  CHECK(counters.waiting() == JobCounters::ByClass{});
  CHECK(counters.name_of(counters.pairs().told().begin()->first.peer) == "worker 0x4d");
}

TEST_CASE("a rank of a world that is not whole yet waits for its process") {
  Job job;
  job.add(0, 0);
  log::CounterSnapshot& spawned = job.add(0, 1);
  spawned.spawned = true;
  spawned.page.started_realtime_ns = 5;
  spawned.rows[to_rank(CounterKind::external, 8, 1)] = {2, 16};
  spawned.communicators[2] = {
      .size = 2, .members_known = true, .runs = {{0, 1, 2, 0}}, .label = ""};
  spawned.rows[log::counter_key(CounterKind::collective_each, 0, 2)] = {3, 30};
  JobCounters counters(kAll);
  counters.take(job.reading);
  CHECK(counters.pairs().told().empty());
  CHECK(counters.waiting()[0] == ExactTotal{2, 16});
  CHECK(counters.waiting()[4] == ExactTotal{3, 30});
  log::CounterSnapshot& partner = job.add(1, 2);
  partner.spawned = true;
  partner.page.started_realtime_ns = 5;
  counters.take(job.reading);
  CHECK(counters.waiting() == JobCounters::ByClass{});
  for (const auto& [pair, total] : counters.pairs().told()) CHECK(pair.peer == 1);
  CHECK(counters.pairs().told().size() == 2);
}

TEST_CASE("who has MPI and gets no rank for minutes is told by name, and by rank from then on") {
  Job job;
  log::CounterSnapshot& process = job.add(-1, 0);
  std::strcpy(process.page.host, "node");
  process.page.pid = 9;
  process.page.started_realtime_ns = 1'000'000'000;
  process.page.heartbeat_realtime_ns = 2'000'000'000;
  process.peers[1] = 0;
  process.rows[to_peer(1)] = {1, 8};
  JobCounters counters(kAll);
  counters.take(job.reading);
  CHECK(counters.waiting()[1] == ExactTotal{1, 8});
  process.page.heartbeat_realtime_ns = 200'000'000'000;
  counters.take(job.reading);
  CHECK(counters.name_of(counters.pairs().told().begin()->first.rank) == "node:9");
  process.page.world_rank = 3;
  process.rows[to_peer(1)] = {4, 32};
  counters.take(job.reading);
  CHECK(counters.pairs().told().at({CounterClass::internal, 3, CountedPair::kNobody}) ==
        ExactTotal{3, 24});
}

TEST_CASE("a rank stays what it was told as, also where another world has it later") {
  Job job;
  job.add(0, 0).rows[to_rank(CounterKind::external, 8, 0)] = {1, 8};
  JobCounters counters(kAll);
  counters.take(job.reading);
  log::CounterSnapshot& spawned = job.add(-1, 1);
  std::strcpy(spawned.page.host, "node");
  spawned.page.pid = 20;
  spawned.page.started_realtime_ns = 5;
  spawned.rows[to_rank(CounterKind::external, 8, 0)] = {2, 16};
  job.reading.now[0].rows[to_rank(CounterKind::external, 8, 0)] = {4, 32};
  counters.take(job.reading);
  CHECK(counters.waiting()[0] == ExactTotal{2, 16});  // for its rank
  job.reading.now[1].page.world_rank = 0;
  counters.take(job.reading);
  CHECK(counters.waiting() == JobCounters::ByClass{});
  const CountedPair first = {CounterClass::external, 0, 0};
  CHECK(counters.pairs().told().at(first) == ExactTotal{4, 32});
  CHECK(counters.pairs().told().size() == 2);
  const auto& [pair, total] = *counters.pairs().told().begin();
  CHECK(counters.name_of(pair.rank) == "0@node:20");
  CHECK(counters.name_of(pair.peer) == "0@node:20");
  CHECK(total == ExactTotal{2, 16});
}

}  // namespace
}  // namespace uctrace::live

// Who is at the ends of what was counted, beside jobs of which the truth is known.
#include "event-log/reader/counted_sides.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "event-log/reader/counter_matrix.hpp"

using namespace uctrace;
using namespace uctrace::log;

namespace {

struct Member {
  std::int32_t rank = -1, size = 0;
  std::uint32_t pid = 0;
  std::uint64_t started = 0;
};

CounterSnapshot process_of(const Member& member) {
  CounterSnapshot process;
  std::strcpy(process.page.host, "node");
  process.page.world_rank = member.rank;
  process.page.world_size = member.size;
  process.page.launch_rank = -1;
  process.page.pid = member.pid;
  process.page.started_realtime_ns = member.started;
  process.workers = {1000 + member.pid};
  return process;
}

CounterKey to(CounterKind kind, std::uint64_t subject) { return counter_key(kind, 4, subject); }

TEST_CASE("counted sides: a peer is found by its worker, and a stranger is told from nobody") {
  std::vector<CounterSnapshot> job = {process_of({0, 8, 10, 0}), process_of({7, 8, 17, 0}),
                                      process_of({-1, 0, 20, 0})};
  job[0].peers = {{4, 1017}, {5, 1020}, {6, 0xdef}, {7, 0}};
  const CountedSides sides(job);
  const auto label = [&](std::uint64_t subject) { return sides.label(sides.peer(0, subject)); };
  CHECK(label(7) == "7");
  CHECK(label(3) == "3");  // of a rank without counters
  CHECK(label(kNamedPeer | 4) == "7");
  CHECK(sides.peer(0, kNamedPeer | 4) == sides.peer(0, 7));
  CHECK(label(kNamedPeer | 5) == "node:20");
  CHECK(label(kNamedPeer | 6) == "worker 0xdef");
  for (const std::uint64_t nobody : {kNamedPeer | 7, kNamedPeer | 8, kUnknownPeer}) {
    CHECK(label(nobody) == "");
    CHECK_FALSE(sides.peer(0, nobody).is_known());
  }
}

TEST_CASE("counted sides: a rank of the launcher is that of who alone has it") {
  std::vector<CounterSnapshot> job(4);
  for (std::size_t i = 0; i < job.size(); ++i) {
    job[i] = process_of({-1, 0, static_cast<std::uint32_t>(10 + i), 0});
    job[i].page.launch_size = 3;
  }
  job[0].page.launch_rank = 0;
  job[1].page.launch_rank = 1;
  job[2].page.launch_rank = 1;  // a child of it
  job[3].page.launch_rank = 3;  // there is none of this number
  const CountedSides sides(job);
  CHECK(sides.label(sides.of(0)) == "0");
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(sides.of(i).rank == -1);
    CHECK(sides.label(sides.of(i)) == "node:" + std::to_string(10 + i));
  }
  job[1].page.world_rank = 1;
  job[1].page.world_size = 3;
  const CountedSides later(job);
  CHECK(later.label(later.of(1)) == "1");
  CHECK(later.of(2).rank == -1);
}

TEST_CASE("counted sides: a rank is one of the world of who counted it") {
  std::mt19937_64 random(5);
  for (int run = 0; run < 200; ++run) {
    // Worlds that start one after the other; some of one size. Processes lie in any order.
    struct Truth {
      std::int32_t world, rank;
    };
    std::vector<std::pair<CounterSnapshot, Truth>> made;
    std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> pid_at;
    const auto worlds = static_cast<std::int32_t>(1 + random() % 4);
    std::uint32_t pid = 1;
    std::map<std::int32_t, int> processes_of_rank;
    for (std::int32_t world = 0; world < worlds; ++world) {
      const auto size = static_cast<std::int32_t>(1 + random() % 3);
      for (std::int32_t rank = 0; rank < size; ++rank, ++pid) {
        const std::uint64_t started = 1000 * static_cast<std::uint64_t>(world) + random() % 900;
        made.push_back({process_of({rank, size, pid, started}), {world, rank}});
        pid_at[{world, rank}] = pid;
        ++processes_of_rank[rank];
      }
    }
    std::shuffle(made.begin(), made.end(), random);
    std::vector<CounterSnapshot> job;
    for (const auto& [process, truth] : made) job.push_back(process);
    const CountedSides sides(job);
    for (std::size_t i = 0; i < job.size(); ++i) {
      const Truth& truth = made[i].second;
      CHECK(sides.world_of(sides.of(i)) == truth.world);
      for (std::int32_t rank = 0; rank < job[i].page.world_size; ++rank) {
        const CountedSide member = sides.member(i, rank);
        REQUIRE(member.process >= 0);
        const std::uint32_t expected = pid_at.at({truth.world, rank});
        CHECK(job[static_cast<std::size_t>(member.process)].page.pid == expected);
        const std::string name = std::to_string(rank);
        CHECK(sides.label(member) ==
              (processes_of_rank[rank] == 1 ? name : name + "@node:" + std::to_string(expected)));
      }
      CHECK(sides.label(sides.member(i, 7)) == (worlds == 1 ? "7" : "7@unknown"));
    }
  }
}

TEST_CASE(
    "counted sides: a spawned rank takes no place in the first world, whatever the clocks say") {
  std::vector<CounterSnapshot> job = {process_of({0, 3, 1, 100}), process_of({2, 3, 3, 100})};
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    // Its host's clock is behind.
    job.push_back(process_of({rank, 3, static_cast<std::uint32_t>(10 + rank), 50}));
    job.back().spawned = true;
  }
  const CountedSides sides(job);
  CHECK(sides.world_of(sides.of(0)) == 0);
  CHECK(sides.world_of(sides.of(3)) == 1);
  const CountedSide missing = sides.member(0, 1);
  CHECK(missing.process == -1);
  CHECK(sides.label(missing) == "1@unknown");
  CHECK(sides.label(sides.member(2, 1)) == "1");
  // Numbers of a later world follow, those without counters as well.
  job.erase(job.begin() + 3);
  const CountedSides fewer(job);
  const SideNumbers numbers(job, fewer, matrix_of(job, fewer));
  CHECK(numbers.size() == 6);
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    CHECK(numbers.of(fewer.member(0, rank)) == rank);
    CHECK(numbers.of(fewer.member(2, rank)) == 3 + rank);
  }
}

TEST_CASE("counted sides: a rank that no launcher can mean is none") {
  std::vector<CounterSnapshot> job = {process_of({-1, 0, 1, 0})};
  job[0].page.launch_rank = INT32_MAX - 1;
  job[0].page.launch_size = INT32_MAX;
  const CountedSides sides(job);
  CHECK(sides.of(0).rank == -1);
  CHECK(SideNumbers(job, sides, matrix_of(job, sides)).size() == 0);
}

TEST_CASE("counter matrix: every message is in one cell, and the cells are those of the sides") {
  std::mt19937_64 random(9);
  std::vector<CounterSnapshot> job = {process_of({0, 2, 1, 0}), process_of({1, 2, 2, 0}),
                                      process_of({0, 1, 3, 5}), process_of({-1, 0, 4, 7})};
  std::map<std::pair<std::string, std::string>, CounterTotal> expected;
  const std::map<std::uint64_t, std::string> peers = {
      {1001, "0@node:1"}, {1002, "1"}, {1003, "0@node:3"}, {1004, "node:4"}, {0x99, "worker 0x99"}};
  const std::vector<std::string> names = {"0@node:1", "1", "0@node:3", "node:4"};
  std::uint64_t unnamed = 0;
  for (std::size_t i = 0; i < job.size(); ++i) {
    std::uint32_t number = 0;
    for (const auto& [uid, name] : peers) {
      job[i].peers[number] = uid;
      const CounterTotal came = {1 + random() % 9, random() % 1000};
      job[i].rows[to(CounterKind::external, kNamedPeer | number)] = came;
      expected[{names[i], name}] += came;
      ++number;
    }
    job[i].rows[to(CounterKind::external, kUnknownPeer)] = {3, 30};
    expected[{names[i], ""}] += {3, 30};
    unnamed += 3;
  }
  job[0].rows[to(CounterKind::external, 1)] = {2, 20};
  expected[{"0@node:1", "1"}] += {2, 20};
  const CountedSides sides(job);
  const CounterMatrix matrix = matrix_of(job, sides);
  std::map<std::pair<std::string, std::string>, CounterTotal> found;
  for (const auto& [pair, cell] : matrix.of(CounterClass::external)) {
    CHECK(found.emplace(std::pair(sides.label(pair.first), sides.label(pair.second)), cell.total)
              .second);
    CHECK(cell.bins[4] == cell.total.messages);
  }
  CHECK(found == expected);
  CHECK(unnamed_messages(job) == unnamed);

  const SideNumbers numbers(job, sides, matrix);
  std::map<std::int32_t, std::string> by_number;
  for (const auto& [pair, cell] : matrix.of(CounterClass::external)) {
    if (pair.second.is_known()) by_number[numbers.of(pair.second)] = sides.label(pair.second);
  }
  CHECK(by_number ==
        std::map<std::int32_t, std::string>{
            {0, "0@node:1"}, {1, "1"}, {2, "0@node:3"}, {3, "node:4"}, {4, "worker 0x99"}});
  CHECK(numbers.size() == 5);
  CHECK(numbers.processes() == std::map<std::int32_t, std::size_t>{{0, 0}, {1, 1}, {2, 2}, {3, 3}});
  CHECK(numbers.renumbered().size() == 3);
  const auto square =
      square_of(matrix, numbers, {CounterClass::external}, MatrixOf::messages, false);
  for (const auto& [from, name] : by_number) {
    for (const auto& [to_number, to_name] : by_number) {
      const auto cell = expected.find({name, to_name});
      CHECK(square[static_cast<std::size_t>(from)][static_cast<std::size_t>(to_number)] ==
            static_cast<double>(cell != expected.end() ? cell->second.messages : 0));
    }
  }
}

TEST_CASE("counter matrix: of ranks alone the numbers are the ranks, as many as the world has") {
  std::vector<CounterSnapshot> job = {process_of({0, 6, 1, 0}), process_of({3, 6, 2, 0})};
  job[0].rows[to(CounterKind::external, 5)] = {1, 1};
  job[1].communicators[2] = {.size = 3, .members_known = true, .runs = {{0, 3, 3, 0}}, .label = ""};
  job[1].rows[to(CounterKind::collective_each, 2)] = {4, 40};
  job[1].rows[to(CounterKind::collective_each, 9)] = {7, 70};  // nobody knows who its members are
  const CountedSides sides(job);
  const CounterMatrix matrix = matrix_of(job, sides);
  const SideNumbers numbers(job, sides, matrix);
  CHECK(numbers.size() == 7);  // rank 6 is a damaged one
  CHECK(numbers.renumbered().empty());
  const auto square =
      square_of(matrix, numbers, {CounterClass::collective}, MatrixOf::bytes, false);
  CHECK(square[3] == std::vector<double>{40, 0, 0, 0, 0, 0, 40});
  CHECK(matrix.of(CounterClass::collective).at({sides.of(1), CountedSide{}}).total ==
        CounterTotal{7, 70});
  CHECK(unnamed_messages(job) == 7);
  for (const std::int32_t rank : {0, 3}) CHECK(numbers.processes().contains(rank));
}

}  // namespace

// Rates of counters compared with naive differences, number by number.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>

#include "log-merger/live/rates.hpp"

namespace uctrace::live {
namespace {

constexpr double kSeconds = 0.5;
const std::vector<std::string> kFunctions = {"MPI_Send", "MPI_Recv", "MPI_Bcast"};

log::CounterKey key_of(std::uint32_t function) {
  return log::counter_key(log::CounterKind::mpi_function, 0, function);
}

struct Made {
  log::CounterSnapshot now;
  LiveProcess process;
};

Made process(Base base, const CounterRows& before, const CounterRows& now) {
  Made made{.now = {}, .process = {.base = base, .before = before}};
  made.now.rows = now;
  for (std::uint32_t i = 0; i < kFunctions.size(); ++i) made.now.functions[i] = kFunctions[i];
  return made;
}

Reading reading_of(std::vector<Made> all) {
  Reading reading;
  reading.seconds = kSeconds;
  for (Made& made : all) {
    reading.now.push_back(std::move(made.now));
    reading.processes.push_back(std::move(made.process));
  }
  return reading;
}

struct Row {
  double calls_per_s, bytes_per_s;
  std::uint64_t calls, bytes;
  bool operator==(const Row&) const = default;
};

std::map<std::string, Row> rows_of(const Reading& reading) {
  const Table table = rates_table(reading, CountersBy::functions);
  REQUIRE(table.columns.size() == 5);
  std::map<std::string, Row> rows;
  for (const std::vector<Cell>& row : table.rows) {
    rows[std::get<std::string>(row[0])] = {std::get<double>(row[1]), std::get<double>(row[2]),
                                           std::get<std::uint64_t>(row[3]),
                                           std::get<std::uint64_t>(row[4])};
  }
  return rows;
}

TEST_CASE("rates: a number that wraps, one that is new, and a process that was not there") {
  const std::uint64_t near_the_end = ~std::uint64_t{0} - 4;
  SUBCASE("a difference across 2^64 is what came") {
    const auto rows = rows_of(reading_of({process(
        Base::rows, {{key_of(0), {near_the_end, near_the_end}}}, {{key_of(0), {5, 95}}})}));
    CHECK(rows.at("MPI_Send") == Row{20, 200, 5, 95});
  }
  SUBCASE("a row that came meanwhile counts from 0") {
    const auto rows = rows_of(reading_of({process(Base::rows, {}, {{key_of(1), {3, 30}}})}));
    CHECK(rows.at("MPI_Recv") == Row{6, 60, 3, 30});
  }
  SUBCASE("a process that was not there counts from 0") {
    const auto rows = rows_of(reading_of({process(Base::zero, {}, {{key_of(1), {3, 30}}})}));
    CHECK(rows.at("MPI_Recv") == Row{6, 60, 3, 30});
  }
  SUBCASE("of one that was not read, or is gone, nothing came") {
    const auto rows = rows_of(reading_of({process(Base::same, {}, {{key_of(1), {3, 30}}})}));
    CHECK(rows.at("MPI_Recv") == Row{0, 0, 3, 30});
  }
  SUBCASE("without an interval there is no rate") {
    Reading reading = reading_of({process(Base::rows, {}, {{key_of(1), {3, 30}}})});
    reading.seconds = 0;
    CHECK(rows_of(reading).at("MPI_Recv") == Row{0, 0, 3, 30});
  }
}

TEST_CASE("rates equal differences taken naively, and the greatest is first") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Made> all;
    std::map<std::string, std::pair<log::CounterTotal, log::CounterTotal>> naive;  // came, total
    for (int i = 0; i < 4; ++i) {
      CounterRows before, now;
      const auto base = static_cast<Base>(random() % 3);
      for (std::uint32_t function = 0; function < kFunctions.size(); ++function) {
        if (random() % 4 == 0) continue;
        const log::CounterTotal was{random() % 2 ? random() : random() % 100, random()};
        const log::CounterTotal came{random() % 1000, random() % 100000};
        log::CounterTotal is = came;
        if (base == Base::rows) {
          before[key_of(function)] = was;
          is += was;
        }
        now[key_of(function)] = is;
        auto& [sum_came, sum] = naive[kFunctions[function]];
        sum += is;
        if (base != Base::same) sum_came += came;
      }
      all.push_back(process(base, before, now));
    }
    const Reading reading = reading_of(std::move(all));
    const auto rows = rows_of(reading);
    REQUIRE(rows.size() == naive.size());
    for (const auto& [name, sums] : naive) {
      const auto& [came, total] = sums;
      CHECK(rows.at(name).calls == total.messages);
      CHECK(rows.at(name).bytes == total.bytes);
      CHECK(std::abs(rows.at(name).calls_per_s * kSeconds - static_cast<double>(came.messages)) <=
            0.051);
      CHECK(std::abs(rows.at(name).bytes_per_s * kSeconds - static_cast<double>(came.bytes)) <=
            0.051);
    }
    const Table table = rates_table(reading, CountersBy::functions);
    for (std::size_t i = 1; i < table.rows.size(); ++i) {
      CHECK(std::get<double>(table.rows[i - 1][2]) >= std::get<double>(table.rows[i][2]));
    }
  }
}

TEST_CASE("rates: the column that is asked for comes first, in tables of processes, too") {
  // By rank: few large messages, many small ones now, and many of them before.
  const std::vector<std::pair<log::CounterTotal, log::CounterTotal>> before_and_now = {
      {{0, 0}, {1, 9000}}, {{0, 0}, {50, 500}}, {{900, 90000}, {910, 90010}}};
  std::vector<Made> all;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto& [before, now] = before_and_now[i];
    const log::CounterKey function = key_of(i),
                          interface = log::counter_key(log::CounterKind::interface, 0, 1);
    all.push_back(process(Base::rows, {{function, before}, {interface, before}},
                          {{function, now}, {interface, now}}));
    all.back().now.page.world_rank = static_cast<std::int32_t>(i);
  }
  const Reading reading = reading_of(std::move(all));
  const std::map<SortBy, std::vector<std::uint64_t>> expected = {
      {SortBy::bytes_per_s, {0, 1, 2}},
      {SortBy::messages_per_s, {1, 2, 0}},
      {SortBy::bytes, {2, 0, 1}},
      {SortBy::messages, {2, 1, 0}}};
  for (const SortBy sort : kSorts) {
    const Table functions = rates_table(reading, CountersBy::functions, sort);
    const Table processes = rates_table(reading, CountersBy::processes, sort);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(std::get<std::string>(functions.rows[i][0]) == kFunctions[expected.at(sort)[i]]);
      CHECK(std::get<std::uint64_t>(processes.rows[i][0]) == expected.at(sort)[i]);
    }
  }
  const Table processes = rates_table(reading, CountersBy::processes);
  for (std::uint64_t i = 0; i < 3; ++i) CHECK(std::get<std::uint64_t>(processes.rows[i][0]) == i);
}

}  // namespace
}  // namespace uctrace::live

// What the page says of communicators, against `uctrace comms`.
#include "log-merger/page-data/page_communicators.hpp"

#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "log-merger/reports/comms.hpp"
#include "log-merger/summaries/sums.hpp"
#include "tests/unit/stored_runs.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

std::string name_in(const ordered_json& value) {
  return value.is_null() ? "none" : value.get<std::string>();
}

// By name: what the program calls it, processes, calls, time, waiting.
using Communicators = std::map<std::string, std::vector<ordered_json>>;

Communicators told_by_comms(const Run& run) {
  std::ostringstream out;
  CommsOptions options;
  options.by = {CommsBy::comm};
  options.format = Format::json;
  write_comms(out, run, {}, options);
  Communicators found;
  const ordered_json told = ordered_json::parse(out.str());
  for (const ordered_json& row : told["comms"]) {
    found[name_in(row["comm"])] = {row["user_name"], row["size"], row["calls"], row["time_ns"],
                                   row["waiting_ns"]};
  }
  return found;
}

Communicator named(Run& run, const char* name, const char* called = "") {
  Communicator comm;
  comm.name = run.texts.intern(name);
  comm.user_name = run.texts.intern(called);
  comm.size = 4;
  return comm;
}

MpiCallRow call_on(Run& run, std::int32_t communicator, const char* function, std::int64_t ns) {
  MpiCallRow call;
  call.function = run.texts.intern(function);
  call.communicator = communicator;
  call.t_start_ns = 0;
  call.t_end_ns = ns;
  return call;
}

// A world, half of it, an intercommunicator that nobody calls on, and a wait for nothing.
Run run_with_communicators() {
  Run run;
  run.processes.resize(1);
  run.processes[0].rank = 0;
  run.communicators.push_back(named(run, "W0.0", "MPI_COMM_WORLD"));
  run.communicators.push_back(named(run, "s0.1"));
  run.communicators.push_back(named(run, "I0.2", "both halves"));
  run.communicators[1].size = 2;
  run.communicators[1].function = run.texts.intern("MPI_Comm_split");
  run.communicators[1].parent = 0;
  run.communicators[2].size = run.communicators[2].remote_size = 2;
  run.communicators[2].parent = 1;
  run.mpi_calls = {call_on(run, 0, "MPI_Init", 9000), call_on(run, 0, "MPI_Send", 100),
                   call_on(run, 1, "MPI_Allreduce", 300), call_on(run, -1, "MPI_Wait", 7)};
  Wait wait;
  wait.call = 2;
  wait.kind = WaitKind::wait_nxn;
  wait.communicator = 1;
  wait.t_start_ns = 0;
  wait.ns = 200;
  run.waits.push_back(wait);
  return run;
}

}  // namespace

TEST_CASE("page: calls of communicators are those of comms, whatever the run") {
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Run run = RandomRun(seed).make({5, 30});
    for (std::size_t i = 0; i < run.communicators.size(); ++i) {
      run.communicators[i].name = run.texts.intern("s0." + std::to_string(i));
    }
    Communicators comms = told_by_comms(run);
    const ordered_json told = page_communicators_json(run);
    std::uint64_t ns = 0;
    for (const ordered_json& row : told["rows"]) {
      ns += row["ns"].get<std::uint64_t>();
      const auto found = comms.find(name_in(row["name"]));
      if (found == comms.end()) {
        CHECK(row["calls"] == 0);
        CHECK(row["ns"] == 0);
        continue;
      }
      const std::uint64_t size =
          row["size"].get<std::uint64_t>() + row["remote_size"].get<std::uint64_t>();
      const ordered_json processes =
          row["name"].is_null() ? ordered_json(nullptr) : ordered_json(size);
      CHECK(found->second == std::vector<ordered_json>{row["called"], processes, row["calls"],
                                                       row["ns"], row["waiting_ns"]});
      comms.erase(found);
      ++compared;
    }
    CHECK(comms.empty());
    CHECK(told["ns"] == ns);
    CHECK(told["left_out"] == 0);
  }
  CHECK(compared > 40);
}

TEST_CASE("page: communicators are the same from sums and from rows, those without calls last") {
  Run run = run_with_communicators();
  const ordered_json from_rows = page_communicators_json(run);
  lay_out_sums(run);
  REQUIRE(run.calls_are_summed);
  CHECK(page_communicators_json(run) == from_rows);
  const ordered_json& rows = from_rows["rows"];
  REQUIRE(rows.size() == 4);
  CHECK(rows[0] == ordered_json{{"name", "s0.1"},
                                {"called", nullptr},
                                {"made_by", "MPI_Comm_split"},
                                {"parent", "W0.0"},
                                {"size", 2},
                                {"remote_size", 0},
                                {"shares_name", false},
                                {"calls", 1},
                                {"ns", 300},
                                {"waiting_ns", 200}});
  CHECK(rows[1]["called"] == "MPI_COMM_WORLD");
  CHECK(rows[1]["ns"] == 100);  // MPI_Init is apart
  CHECK(rows[2]["name"].is_null());
  CHECK(rows[2]["ns"] == 7);
  CHECK(rows[3]["name"] == "I0.2");
  CHECK(rows[3]["calls"] == 0);
  CHECK(from_rows["ns"] == 407);
}

TEST_CASE("page: communicators that the program calls the same are told") {
  Run run = run_with_communicators();
  run.communicators.push_back(named(run, "s0.3", "both halves"));
  run.communicators.push_back(named(run, "d0.4", "s0.1"));
  std::map<std::string, bool> shares;
  const ordered_json told = page_communicators_json(run);
  for (const ordered_json& row : told["rows"]) shares[name_in(row["name"])] = row["shares_name"];
  CHECK(shares == std::map<std::string, bool>{{"W0.0", false},
                                              {"s0.1", true},
                                              {"I0.2", true},
                                              {"s0.3", true},
                                              {"d0.4", true},
                                              {"none", false}});
}

TEST_CASE("page: of very many communicators the longest are told") {
  Run run = run_with_communicators();
  for (std::int32_t i = 3; i < 600; ++i) {
    run.communicators.push_back(named(run, ("s0." + std::to_string(i)).c_str()));
    run.mpi_calls.push_back(call_on(run, i, "MPI_Barrier", 1000 + i));
  }
  const ordered_json told = page_communicators_json(run);
  CHECK(told["rows"].size() == 500);
  CHECK(told["rows"][0]["name"] == "s0.599");
  CHECK(told["left_out"] == 601 - 500);
}

}  // namespace uctrace

// The page's data about lines of the program, compared with `uctrace comms` and plain sums.
#include "log-merger/page-data/page_call_sites.hpp"

#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "log-merger/reports/comms.hpp"
#include "log-merger/summaries/sums.hpp"
#include "tests/unit/stored_runs.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

std::string text_of(const ordered_json& value) {
  return value.is_null() ? "unknown" : value.get<std::string>();
}

// By line and function: calls, time, waiting.
using Sites = std::map<std::pair<std::string, std::string>, std::vector<std::uint64_t>>;

Sites sites_of_comms(const Run& run) {
  std::ostringstream out;
  CommsOptions options;
  options.by = {CommsBy::call_site, CommsBy::op};
  options.format = Format::json;
  write_comms(out, run, {}, options);
  Sites sites;
  const ordered_json told = ordered_json::parse(out.str());
  for (const ordered_json& row : told["comms"]) {
    std::vector<std::uint64_t>& sums = sites[{text_of(row["call_site"]), text_of(row["op"])}];
    sums.resize(3);
    sums[0] += row["calls"].get<std::uint64_t>();
    sums[1] += row["time_ns"].get<std::uint64_t>();
    sums[2] += row["waiting_ns"].get<std::uint64_t>();
  }
  return sites;
}

Sites sites_of_page(const Run& run) {
  Sites sites;
  const ordered_json told = page_call_sites_json(run);
  for (const ordered_json& row : told["rows"]) {
    std::vector<std::uint64_t>& sums = sites[{text_of(row["site"]), text_of(row["mpi"])}];
    sums.resize(3);
    sums[0] += row["calls"].get<std::uint64_t>();
    sums[1] += row["ns"].get<std::uint64_t>();
    sums[2] += row["waiting_ns"].get<std::uint64_t>();
  }
  return sites;
}

// A run of `calls` calls of two lines by two processes; every second one waited for half of its
// time.
Run calling_run(std::size_t calls) {
  Run run;
  run.processes.resize(2);
  run.processes[0].rank = 0;
  run.processes[1].rank = 1;
  for (const char* label : {"send (a.c:1)", "wait (a.c:2)"}) {
    run.stacks.push_back({.call_site = static_cast<std::int32_t>(run.call_sites.size())});
    run.call_sites.push_back({.label = run.texts.intern(label)});
  }
  const TextId functions[] = {run.texts.intern("MPI_Send"), run.texts.intern("MPI_Wait")};
  for (std::size_t i = 0; i < calls; ++i) {
    MpiCallRow call;
    call.process = static_cast<std::uint32_t>(i < calls / 2 ? 0 : 1);
    call.function = functions[i % 2];
    call.stack = static_cast<std::int32_t>(i % 2);
    call.t_start_ns = static_cast<std::int64_t>(i * 1000);
    call.t_end_ns = call.t_start_ns + 100;
    run.mpi_calls.push_back(call);
    if (i % 2 == 0) continue;
    Wait wait;
    wait.call = static_cast<std::int64_t>(i);
    wait.process = call.process;
    wait.kind = WaitKind::late_sender;
    wait.t_start_ns = call.t_start_ns;
    wait.ns = 50;
    run.waits.push_back(wait);
  }
  return run;
}

}  // namespace

TEST_CASE("page: calls of a line are those of comms, whatever the run") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Run run = RandomRun(seed).make({5, 30});
    // The page has UCP calls outside of MPI as well, here with the same names.
    run.operation_sums.clear();
    for (UcpOperationRow& operation : run.ucp_operations) operation.stack = -1;
    const Sites page = sites_of_page(run);
    const Sites comms = sites_of_comms(run);
    CHECK(comms.size() > 1);
    CHECK(page.size() == comms.size());
    for (const auto& [key, sums] : comms) {
      CAPTURE(key.first);
      CAPTURE(key.second);
      REQUIRE(page.contains(key));
      CHECK(page.at(key) == sums);
    }
  }
}

TEST_CASE("page: calls of a line are the same from sums and from rows") {
  Run run = calling_run(4000);
  const ordered_json from_rows = page_call_sites_json(run);
  lay_out_sums(run);
  REQUIRE(run.calls_are_summed);
  CHECK(page_call_sites_json(run) == from_rows);
  const ordered_json& rows = from_rows["rows"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["site"] == "wait (a.c:2)");  // it waited
  CHECK(rows[0] == ordered_json{{"site", "wait (a.c:2)"},
                                {"mpi", "MPI_Wait"},
                                {"calls", 2000},
                                {"ns", 200'000},
                                {"waiting_ns", 100'000},
                                {"ranks", 2}});
  CHECK(rows[1]["waiting_ns"] == 0);
  CHECK(from_rows["left_out"] == 0);
}

TEST_CASE("page: of very many lines the greatest are told") {
  Run run = calling_run(2);
  run.mpi_calls.clear();
  run.waits.clear();
  for (std::int32_t i = 2; i < 600; ++i) {
    run.call_sites.push_back({.label = run.texts.intern("f (b.c:" + std::to_string(i) + ")")});
    run.stacks.push_back({.call_site = i});
    MpiCallRow call;
    call.function = run.texts.intern("MPI_Send");
    call.stack = i;
    call.t_start_ns = 0;
    call.t_end_ns = i;
    run.mpi_calls.push_back(call);
  }
  const ordered_json told = page_call_sites_json(run);
  CHECK(told["rows"].size() == 500);
  CHECK(told["left_out"] == 98);
  CHECK(told["rows"][0]["site"] == "f (b.c:599)");
}

TEST_CASE("page: delays of stacks that lead to one line are one") {
  Run run = calling_run(2);
  run.stacks.push_back({.call_site = 0});
  const TextId function = run.mpi_calls[0].function;
  const auto add = [&](std::uint32_t process, std::int32_t stack, std::int64_t direct_ns) {
    Delay delay;
    delay.process = process;
    delay.function = function;
    delay.stack = stack;
    delay.waits = 1;
    delay.direct_ns = direct_ns;
    delay.passed_on_ns = 5;
    run.delays.push_back(delay);
  };
  add(1, 1, 40);
  add(0, 0, 30);
  add(0, 2, 30);
  add(0, -1, 1);
  const ordered_json told = page_delays_json(run);
  CHECK(told["ns"] == 40 + 30 + 30 + 1 + 4 * 5);
  REQUIRE(told["rows"].size() == 3);
  CHECK(told["rows"][0] == ordered_json{{"process", 0},
                                        {"mpi", "MPI_Send"},
                                        {"site", "send (a.c:1)"},
                                        {"waits", 2},
                                        {"direct_ns", 60},
                                        {"passed_on_ns", 10}});
  CHECK(told["rows"][1]["process"] == 1);
  CHECK(told["rows"][2]["site"].is_null());
}

}  // namespace uctrace

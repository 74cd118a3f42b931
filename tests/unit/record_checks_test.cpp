// Records that are well-formed but that no process could have written:
// log-merger/load/record_checks.hpp.
#include "log-merger/load/record_checks.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "log-merger/reports/info_output.hpp"
#include "tests/unit/merged_logs.hpp"

namespace uctrace::merge::test {

using nlohmann::ordered_json;

namespace {

// A UCT operation of interface 3 on an endpoint, both defined, that has ended.
LogBuilder process_of_uct(log::Id id) {
  LogBuilder log = process(0, 0);
  log::UctOperation operation{};
  operation.head.a = 3;
  operation.op = log::UctOp::am_short;
  operation.flags = log::UctOperation::kHasId;
  operation.start_tick = 20'000'000;
  operation.duration_ticks = 10;
  operation.endpoint = 0x1000;
  log.add(operation, log::RecordType::uct_operation, {id});
  ++log.lanes[0].counters.uct_posted_ok;
  return log;
}

void define_places(LogBuilder& log) {
  log.chunk(log::Stream::definitions, 0, 1);
  log::UctInterface interface {};
  interface.head.a = 3;
  std::strcpy(interface.transport, "tcp");
  log.add(interface, log::RecordType::uct_interface);
  log::UctEndpoint endpoint{};
  endpoint.head.a = 3;
  endpoint.handle = 0x1000;
  log.add(endpoint, log::RecordType::uct_endpoint);
}

std::string impossible_in(const Run& run) {
  std::string found;
  const ordered_json info = info_json(run);
  for (const ordered_json& row : info["folder"]["impossible"]) {
    const std::string line =
        std::to_string(row["records"].get<int>()) + ' ' + row["what"].get<std::string>();
    CHECK(has_note(run, row["log"].get<std::string>() + ": " + line +
                            ": the file is damaged, or it is a defect of uctrace"));
    found += line + '\n';
  }
  return found;
}

log::UctArrival arrival(log::Id id, std::uint64_t tick) {
  log::UctArrival arrival{};
  arrival.head.a = 3;
  arrival.start_tick = tick;
  arrival.id = id;
  return arrival;
}

}  // namespace

TEST_CASE("events of a thread whose clock goes back are named") {
  LogBuilder log = process_of_uct(1);
  const auto add = [&](std::uint64_t tick) {
    log.add(log::test::completion(tick), log::RecordType::uct_completion);
  };
  SUBCASE("what is recorded at its end may have begun before others") {
    log::MpiCall call{};
    call.start_tick = 1500;
    call.duration_ticks = 20'000'000;
    log.add(call, log::RecordType::mpi_call);
    log::UctArrival long_ago = arrival(1, 1600);
    long_ago.head.b = 20'000'000;  // ticks
    log.add(long_ago, log::RecordType::uct_arrival);
    add(19'000'000);  // within the margin
    CHECK(info_json(merged({log}))["clock"]["backward"].empty());
  }
  SUBCASE("one that was over before what is recorded before it began") {
    add(18'999'999);
    add(40'000'000);
    add(30'000'000);
    log.chunk(log::Stream::events, 1, 1);  // another thread
    add(1);
    const Run run = merged({log});
    CHECK(info_json(run)["clock"]["backward"][0]["events"] == 2);
    CHECK(has_note(
        run,
        "log0: 2 events are over more than 1 ms before an earlier one of their thread began: "
        "its clock went backwards; do not trust its times"));
  }
}

TEST_CASE("records that no process writes so are named, and what they say is shown") {
  SUBCASE("none") {
    LogBuilder log = process_of_uct(1);
    define_places(log);
    CHECK(impossible_in(merged({log})).empty());
  }
  SUBCASE("places that nobody defined") {
    const Run run = merged({process_of_uct(1)});
    CHECK(impossible_in(run) ==
          "1 UCT operations or arrivals are of interfaces that the log does not define\n"
          "1 UCT operations are on endpoints that the log does not define\n");
    CHECK(run.transfers.size() == 1);
  }
  SUBCASE("not where definitions may be missing") {
    LogBuilder log = process_of_uct(1);
    log.page.closed = 0;
    CHECK(impossible_in(merged({log})).empty());
  }
  SUBCASE("ids") {
    LogBuilder log = process_of_uct(log::make_id(4000, 1));
    log.add(arrival(7, 20'003'000), log::RecordType::uct_arrival);
    log.add(arrival(7, 20'003'000), log::RecordType::uct_arrival);
    log.add(arrival(UINT64_MAX, 20'003'000), log::RecordType::uct_arrival);
    log.lanes[0].counters.uct_arrivals = 3;
    define_places(log);
    CHECK(impossible_in(merged({log})) ==
          "1 operations or arrivals have an id that an earlier one has\n"
          "2 operations or arrivals have an id that their thread cannot have given\n");
  }
  SUBCASE("ends") {
    LogBuilder log = process_of_uct(1);
    for (const log::Id operation : {1, 1, 2}) {
      log::UctCompletion end = log::test::completion(20'002'000);
      end.operation = operation;
      log.add(end, log::RecordType::uct_completion);
    }
    define_places(log);
    CHECK(impossible_in(merged({log})) ==
          "2 completions are of no operation, or of one that had ended\n");
  }
}

}  // namespace uctrace::merge::test

// Rules about protocols, connections, the program and its settings, each in both directions: a run
// with the finding, and the most similar one without it.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/unit/finding_runs.hpp"

namespace uctrace {
namespace {

TEST_CASE("a switch of protocols at which latency jumps is told") {
  const auto run_of = [](std::int64_t ns_of_large, int count) {
    Run run = quiet_run();
    send(run, {.protocol = "eager", .bytes = 6000, .latency_ns = 1000, .count = count});
    send(run, {.protocol = "rndv", .bytes = 9000, .latency_ns = ns_of_large, .count = count});
    return run;
  };
  const std::string what = said(run_of(9000, 40), "switch-is-costly");
  CHECK(has(what, "From 8.0 KiB on messages within hosts change from eager to rndv"));
  CHECK(said(run_of(2500, 40), "switch-is-costly").empty());
  CHECK(said(run_of(9000, 20), "switch-is-costly").empty());
  Run same = run_of(9000, 40);
  for (Message& message : same.messages) message.protocol = same.texts.intern("eager");
  CHECK(said(same, "switch-is-costly").empty());
}

TEST_CASE("only protocols of one kind of operation are taken for a switch") {
  const auto said_of = [](const char* small, const char* large) {
    Run run = quiet_run();
    send(run, {.protocol = small, .bytes = 6000, .latency_ns = 1000, .count = 40});
    send(run, {.protocol = large, .bytes = 9000, .latency_ns = 90000, .count = 40});
    return said(run, "switch-is-costly");
  };
  // As in an OpenSHMEM job: short messages of its barriers, then atomic operations.
  CHECK(said_of("eager/short", "amo/post/sw").empty());
  CHECK(said_of("put/offload/short", "get/offload/bcopy").empty());
  CHECK(said_of("am/eager/short", "rndv/get/zcopy").empty());
  CHECK(said_of("eager/bcopy", "stream/bcopy").empty());
  CHECK(has(said_of("eager/short", "eager/bcopy"), "change from eager/short to eager/bcopy"));
  CHECK(has(said_of("eager/zcopy", "rndv/get/zcopy"), "change from eager/zcopy to rndv/get/zcopy"));
  CHECK(has(said_of("am/eager/short", "am/rndv/get/zcopy"), "to am/rndv/get/zcopy"));
  CHECK(has(said_of("put/offload/short", "put/offload/zcopy"), "to put/offload/zcopy"));
  // Other messages of the same size do not hide it.
  Run run = quiet_run();
  send(run, {.protocol = "eager", .bytes = 6000, .latency_ns = 1000, .count = 40});
  send(run, {.protocol = "put/am/bcopy", .bytes = 9000, .latency_ns = 1000, .count = 400});
  send(run, {.protocol = "rndv", .bytes = 9000, .latency_ns = 90000, .count = 40});
  CHECK(has(said(run, "switch-is-costly"), "change from eager to rndv"));
}

TEST_CASE("late first messages are told") {
  const auto run_of = [](std::int64_t first_ns) {
    Run run = quiet_run();
    add_rank_times(run, 10 * kMs);
    send(run, {.latency_ns = first_ns});
    send(run, {.latency_ns = 1000, .count = 50});
    return run;
  };
  CHECK(has(said(run_of(3 * kMs), "first-messages-late"), "3.0 ms on average"));
  CHECK(said(run_of(4000), "first-messages-late").empty());
  Run long_run = run_of(3 * kMs);
  for (RankTime& rank : long_run.rank_times) rank.t_end_ns = 1000 * kMs;
  CHECK(said(long_run, "first-messages-late").empty());
}

TEST_CASE("messages that wait for registration are told, and whether it comes again") {
  Run run = quiet_run();
  send(run, {});
  add_rank_times(run, 1000 * kMs);
  const auto rank_ns = [&] {
    std::int64_t sum = 0;
    for (const RankTime& rank : run.rank_times) sum += rank.t_end_ns - rank.t_begin_ns;
    return sum;
  }();
  RegistrationSum sum{.memory_domain = run.texts.intern("mlx5_0"),
                      .function = run.texts.intern("uct_md_mem_reg"),
                      .memory = MemoryKind::host,
                      .calls = 10,
                      .bytes = 1 << 20,
                      .registrations = 10,
                      .first_uses = 9};
  sum.ns = sum.own_ns = sum.for_messages_ns = std::max<std::int64_t>(rank_ns / 10, 1'000'000);
  // Mappings and their ends are about the same bytes, and are no registrations.
  const RegistrationSum mapping{
      .function = run.texts.intern("ucp_mem_map"), .calls = 10, .bytes = 1 << 20};
  run.registration_sums = {sum, mapping};
  const std::string what = said(run, "registration-is-long");
  CHECK(has(what, "uct_md_mem_reg with mlx5_0"));
  CHECK(has(what, "9 of 10 registrations were the first of their memory"));
  CHECK(!has(what, "again"));
  run.registration_sums[0].for_messages_ns = 999'999;
  CHECK(said(run, "registration-is-long").empty());
  run.registration_sums[0].for_messages_ns = rank_ns / 25;
  CHECK(said(run, "registration-is-long").empty());
  run.registration_sums.clear();
  CHECK(said(run, "registration-is-long").empty());
}

TEST_CASE("messages that wait until UCX has connected are told, each once") {
  Run run = quiet_run();
  send(run, {});
  add_rank_times(run, 1000 * kMs);
  const auto add = [&](std::int64_t message, std::int64_t ready_ms, std::int64_t waited_ms,
                       const char* transport) {
    ConnectionRow row;
    row.first_message = message;
    row.t_created_ns = ready_ms * kMs / 2;
    row.t_connected_ns = ready_ms * kMs;
    row.waited_ns = waited_ms * kMs;
    row.transport = run.texts.intern(transport);
    run.connections.push_back(row);
  };
  add(0, 400, 300, "rc_mlx5");
  add(0, 350, 250, "tcp");  // another lane of the same message
  add(1, 450, 100, "tcp");  // beside it
  add(2, 500, 0, "tcp");
  add(-1, 900, 900, "tcp");  // of no message
  const std::string what = said(run, "connections-are-long");
  CHECK(has(what, "2 messages waited"));
  CHECK(has(what, "during 350.0 ms"));
  CHECK(has(what, "300.0 ms, for rc_mlx5"));
  SUBCASE("what waited before MPI had begun is no time of ranks") {
    for (RankTime& rank : run.rank_times) rank.t_begin_ns = 451 * kMs;
    CHECK(said(run, "connections-are-long").empty());
  }
  SUBCASE("a small part of the time, or too short") {
    run.connections.resize(1);
    run.connections[0].waited_ns = 999'999;
    CHECK(said(run, "connections-are-long").empty());
    run.connections[0].waited_ns = 2 * kMs;
    CHECK(said(run, "connections-are-long").empty());
  }
  SUBCASE("none") {
    run.connections.clear();
    CHECK(said(run, "connections-are-long").empty());
  }
}

TEST_CASE("ten thousand tiny messages from one place are told") {
  const auto run_of = [](int count, std::uint64_t bytes, const char* function = "MPI_Isend") {
    Run run = quiet_run();
    CallSite site;
    site.label = run.texts.intern("solve (cg.c:42)");
    run.call_sites.push_back(site);
    CallStack stack;
    stack.call_site = 0;
    run.stacks.push_back(stack);
    send(run, {.transport = "posix", .bytes = bytes, .count = count});
    for (Message& message : run.messages) {
      message.stack = 0;
      message.mpi = run.texts.intern(function);
    }
    return run;
  };
  const std::string what = said(run_of(10'000, 8), "many-tiny-messages");
  CHECK(has(what, "10000 messages below 256 B, 8 B on average"));
  CHECK(has(what, "MPI_Isend at solve (cg.c:42)"));
  CHECK(shown_by(run_of(10'000, 8), "many-tiny-messages") ==
        "report --by call-sites --mpi MPI_Isend");
  CHECK(shown_by(run_of(10'000, 8, "x; rm y"), "many-tiny-messages") == "report --by call-sites");
  CHECK(said(run_of(9'999, 8), "many-tiny-messages").empty());
  CHECK(said(run_of(10'000, 256), "many-tiny-messages").empty());
}

TEST_CASE("ranks that do not work evenly are told") {
  Run run = quiet_run(4);
  add_rank_times(run, 100 * kMs, 50 * kMs);
  CHECK(said(run, "ranks-unbalanced").empty());
  run.rank_times[3].mpi_ns = 0;
  CHECK(has(said(run, "ranks-unbalanced"), "rank 3 spent 100.0 ms outside MPI"));
  run.rank_times[0].threads = 2;
  CHECK(said(run, "ranks-unbalanced").empty());
}

TEST_CASE("the rank that others wait for is told, with what it came late to") {
  Run run = quiet_run(4);
  add_rank_times(run, 100 * kMs, 50 * kMs);
  Delay delay;
  delay.process = 2;
  delay.function = run.texts.intern("MPI_Barrier");
  delay.direct_ns = 60 * kMs;
  run.delays.push_back(delay);
  const std::string what = said(run, "rank-makes-others-wait");
  CHECK(has(what, "15 % of their time"));
  CHECK(has(what, "for rank 2"));
  CHECK(has(what, "MPI_Barrier"));
  run.delays[0].direct_ns = 10 * kMs;
  CHECK(said(run, "rank-makes-others-wait").empty());
}

TEST_CASE("settings that differ are told of those that have them") {
  Run run = quiet_run(4);
  set(run, SettingFrom::environment, "UCX_TLS", "tcp", 3, 1);
  CHECK(said(run, "settings-differ") == "rank 3 has UCX_TLS=tcp, all others none");
  Run two = quiet_run(4);
  set(two, SettingFrom::environment, "UCX_TLS", "sm", 0, 2);
  set(two, SettingFrom::environment, "UCX_TLS", "sm", 3, 1);
  set(two, SettingFrom::environment, "UCX_TLS", "tcp", 2, 1);
  CHECK(said(two, "settings-differ") == "rank 2 has UCX_TLS=tcp, all others have UCX_TLS=sm");
  Run all = quiet_run(4);
  set(all, SettingFrom::environment, "UCX_TLS", "sm", 0, 4);
  CHECK(said(all, "settings-differ").empty());
  Run numbered = quiet_run(4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    set(numbered, SettingFrom::environment, "MPICH_RANK", std::to_string(i).c_str(), i, 1);
  }
  CHECK(said(numbered, "settings-differ").empty());
}

TEST_CASE("transports that only some opened are told, unless a setting says why") {
  Run run = quiet_run(4);
  set(run, SettingFrom::opened, "cma", "memory", 0, 3);
  set(run, SettingFrom::opened, "posix", "memory", 0, 4);
  CHECK(has(said(run, "transports-differ"), "UCX opened no cma in rank 3"));
  set(run, SettingFrom::opened, "tcp", "eth0", 1, 1);
  set(run, SettingFrom::environment, "UCX_TLS", "posix", 3, 1);
  CHECK(said(run, "transports-differ").empty());
}

}  // namespace
}  // namespace uctrace

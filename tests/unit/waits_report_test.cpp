// The output of `uctrace waits` and `uctrace comms` for rows with known numbers.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "log-merger/placement/rank_matrix.hpp"
#include "log-merger/reports/comms.hpp"
#include "log-merger/reports/messages_output.hpp"
#include "log-merger/reports/waits.hpp"
#include "log-merger/summaries/call_parts.hpp"

namespace uctrace {
namespace {

using Json = nlohmann::ordered_json;

// Two ranks, from 0 to 100 ns: rank 0 computes for 80 of them, rank 1 for 40.
struct TwoRanks {
  TwoRanks() {
    for (std::int32_t rank = 0; rank < 2; ++rank) {
      Process& process = run.processes.emplace_back();
      process.key = run.texts.intern("node/" + std::to_string(rank));
      process.host = run.texts.intern("node");
      process.rank = rank;
      process.world = 0;
      process.world_size = 2;
    }
    Communicator& world = run.communicators.emplace_back();
    world.name = run.texts.intern("W0.0");
    world.world = 0;
    add_rank(0, 20);
    add_rank(1, 60);
    run.call_sites.resize(2);
    run.call_sites[0].label = run.texts.intern("solve (solver.c:10)");
    run.call_sites[1].label = run.texts.intern("exchange (solver.c:20)");
    for (const std::int32_t site : {0, 0, 1}) run.stacks.push_back({.call_site = site});
  }

  void add_rank(std::uint32_t process, std::int64_t mpi_ns) {
    RankTime& rank = run.rank_times.emplace_back();
    rank.process = process;
    rank.threads = 1;
    rank.calls = 1;
    rank.t_begin_ns = 0;
    rank.t_end_ns = 100;
    rank.ideal_ns = 90 - process;
    rank.mpi_ns = mpi_ns;
  }

  std::int64_t add_call(std::uint32_t process, const char* function, std::int64_t start_ns,
                        std::int64_t end_ns, std::int32_t stack) {
    MpiCallRow& call = run.mpi_calls.emplace_back();
    call.process = process;
    call.function = run.texts.intern(function);
    call.stack = stack;
    call.t_start_ns = start_ns;
    call.t_end_ns = end_ns;
    return static_cast<std::int64_t>(run.mpi_calls.size()) - 1;
  }

  Wait& add_wait(WaitKind kind, std::int64_t call, std::int64_t cause_call, std::int64_t ns) {
    Wait& wait = run.waits.emplace_back();
    wait.kind = kind;
    wait.call = call;
    wait.process = run.mpi_calls[static_cast<std::size_t>(call)].process;
    wait.cause_call = cause_call;
    wait.cause_process = 1 - static_cast<std::int32_t>(wait.process);
    wait.t_start_ns = run.mpi_calls[static_cast<std::size_t>(call)].t_start_ns;
    wait.communicator = 0;
    wait.ns = ns;
    return wait;
  }

  // Rank 1 waits for rank 0: 10 ns in a receive, 5 in a barrier, 7 in MPI_Finalize.
  void add_waits() {
    const std::int64_t send = add_call(0, "MPI_Send", 30, 35, 2);
    const std::int64_t end = add_call(0, "MPI_Finalize", 107, 108, -1);
    const std::int64_t receive = add_call(1, "MPI_Recv", 20, 40, 0);
    const std::int64_t barrier = add_call(1, "MPI_Barrier", 60, 70, 1);
    const std::int64_t finalize = add_call(1, "MPI_Finalize", 100, 108, -1);
    add_wait(WaitKind::late_sender, receive, send, 10).moving_ns = 4;
    add_wait(WaitKind::wait_barrier, barrier, -1, 5);
    add_wait(WaitKind::barrier_completion, barrier, -1, 3);
    add_wait(WaitKind::wait_finalize, finalize, end, 7).unknown_ns = 1;
  }

  Json told(WaitsBy by, std::uint64_t interval_ns = 1, const WaitsFilter& filter = {}) {
    WaitsOptions options;
    options.format = Format::json;
    options.by = by;
    options.interval_ns = interval_ns;
    return to_json(waits_table(run, filter, options));
  }

  std::vector<std::string> kinds_of(const WaitsFilter& filter) {
    std::vector<std::string> kinds;
    for (const Json& row : told(WaitsBy::kind, 1, filter)) kinds.push_back(row["kind"]);
    return kinds;
  }

  std::string text(const WaitsOptions& options = {}) {
    std::ostringstream out;
    write_waits(out, run, {}, options);
    return out.str();
  }

  Json comms(std::vector<CommsBy> by) {
    CommsOptions options;
    options.by = std::move(by);
    options.format = Format::json;
    std::ostringstream out;
    write_comms(out, run, {}, options);
    return Json::parse(out.str());
  }

  Run run;
};

std::vector<std::string> keys_of(const Json& row) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : row.items()) keys.push_back(key);
  return keys;
}

}  // namespace

TEST_CASE("POP's efficiencies are what their definitions say of known times") {
  TwoRanks job;
  const Efficiencies e = efficiencies_of(job.run);
  CHECK(e.load_balance == doctest::Approx(60.0 / 80.0));
  CHECK(e.serialisation == doctest::Approx(80.0 / 90.0));
  CHECK(e.transfer == doctest::Approx(90.0 / 100.0));
  CHECK(e.communication == doctest::Approx(80.0 / 100.0));
  CHECK(e.parallel == doctest::Approx(60.0 / 100.0));
}

TEST_CASE("where efficiencies are not known, the reason is the one that applies") {
  TwoRanks job;
  SUBCASE("calls of a rank are missing") {
    job.run.rank_times[1].ideal_ns = -1;
    CHECK(job.text().find("efficiency: not known: calls of rank 1 were not recorded") !=
          std::string::npos);
    WaitsOptions as_json;
    as_json.format = Format::json;
    const Json told = Json::parse(job.text(as_json));
    CHECK(told["efficiency"]["parallel"].is_null());
    CHECK(told["balance"][1]["compute_ns"].is_null());
    CHECK(told["balance"][0]["compute_ns"] == 80);
  }
  SUBCASE("several threads of a rank call MPI") {
    job.run.rank_times[0].threads = 2;
    CHECK(job.text().find("not known: several threads of a rank call MPI") != std::string::npos);
  }
  SUBCASE("nobody called MPI") {
    job.run.rank_times.clear();
    CHECK(job.text().find("not known: no process called MPI") != std::string::npos);
  }
}

TEST_CASE("stacks that lead to one call site are one row of delays and of the critical path") {
  TwoRanks job;
  const TextId barrier = job.run.texts.intern("MPI_Barrier");
  const auto delay = [&](std::int32_t stack, std::int64_t direct_ns) {
    return Delay{0, barrier, stack, 1, direct_ns, 1};
  };
  // The line that the two stacks share costs most, no stack by itself does.
  job.run.delays = {delay(2, 50), delay(0, 40), delay(1, 30)};
  job.run.critical_path = {{0, barrier, 2, 50, 1}, {0, barrier, 0, 40, 1}, {0, barrier, 1, 30, 1}};
  WaitsOptions as_json;
  as_json.format = Format::json;
  const Json told = Json::parse(job.text(as_json));
  REQUIRE(told["delays"].size() == 2);
  CHECK(told["delays"][0]["call_site"] == "solve (solver.c:10)");
  CHECK(told["delays"][0]["direct_ns"] == 70);
  CHECK(told["delays"][0]["passed_on_ns"] == 2);
  CHECK(told["delays"][0]["waits"] == 2);
  REQUIRE(told["critical_path"].size() == 2);
  CHECK(told["critical_path"][0]["work_ns"] == 70);
  CHECK(told["critical_path"][0]["mpi_ns"] == 2);
  CHECK(job.text().find("coming late to MPI_Barrier at solve (solver.c:10)") != std::string::npos);
}

TEST_CASE("waits are chosen by the function that waited and by the hosts of both ends") {
  TwoRanks job;
  job.add_waits();
  using Kinds = std::vector<std::string>;
  CHECK(job.kinds_of({.mpi = {"MPI_Recv"}}) == Kinds{"late_sender"});
  CHECK(job.kinds_of({.mpi = {"MPI_Barrier", "MPI_Recv"}}) ==
        Kinds{"late_sender", "wait_barrier", "barrier_completion"});
  CHECK(job.kinds_of({.mpi = {"MPI_Send"}}).empty());  // it was late, and did not wait
  CHECK_THROWS_WITH(job.kinds_of({.mpi = {"MPI_Rceive"}}), doctest::Contains("MPI_Recv"));

  CHECK(job.kinds_of({.host = {"node"}}).size() == 4);
  Process& third = job.run.processes.emplace_back(job.run.processes[1]);
  third.rank = 2;
  third.host = job.run.texts.intern("elsewhere");
  CHECK(job.kinds_of({.host = {"elsewhere"}}).empty());
  job.run.waits[0].cause_process = 2;
  job.run.waits[1].process = 2;
  CHECK(job.kinds_of({.host = {"elsewhere"}}) == Kinds{"late_sender", "wait_barrier"});
  CHECK(job.kinds_of({.rank = {"1"}, .host = {"elsewhere"}}) ==
        Kinds{"late_sender"});  // each may be of either end
  CHECK_THROWS_WITH(job.kinds_of({.host = {"nowhere"}}), doctest::Contains("this run has"));
}

TEST_CASE("rows of waits tell what they tell apart, and completions stand behind what waited") {
  TwoRanks job;
  job.add_waits();
  const Json all = job.told(WaitsBy::all);
  REQUIRE(all.size() == 4);
  CHECK(all[0]["kind"] == "late_sender");
  CHECK(all[0]["call_site"] == "solve (solver.c:10)");
  CHECK(all[0]["cause_call_site"] == "exchange (solver.c:20)");
  CHECK(all[0]["time_ns"] == 10);
  CHECK(all[0]["moving_ns"] == 4);
  const Json& completion = all.back();  // nobody waited in it
  CHECK(completion["kind"] == "barrier_completion");
  CHECK(completion["time_ns"] == 3);
  CHECK(job.told(WaitsBy::comm)[0]["comm"] == "W0.0");
  // The output has the same keys whatever distinguishes the rows.
  const Json by_rank = job.told(WaitsBy::rank);
  CHECK(by_rank[0]["waiting_rank"] == 1);
  CHECK(by_rank[0]["causing_rank"].is_null());
  CHECK(by_rank[0]["call_site"].is_null());
  const std::vector<std::string> keys = {
      "kind",  "waiting_rank", "causing_rank", "call_site", "cause_call_site", "comm",
      "count", "time_ns",      "unknown_ns",   "moving_ns", "registration_ns", "way"};
  for (const WaitsBy by : {WaitsBy::all, WaitsBy::pair, WaitsBy::rank, WaitsBy::call_site,
                           WaitsBy::comm, WaitsBy::kind}) {
    CHECK(keys_of(job.told(by)[0]) == keys);
  }
  WaitsOptions options;
  options.by = WaitsBy::kind;
  const std::string text = job.text(options);
  CHECK(text.find("kind ") != std::string::npos);
  CHECK(text.find("which was late at") == std::string::npos);
}

TEST_CASE("waits by call path tell stacks apart that lead to one call site") {
  TwoRanks job;
  job.add_waits();
  const std::int32_t site = job.run.stacks[0].call_site;
  const auto frame = [&](const char* function) {
    CodeFrame& row = job.run.frames.emplace_back();
    row.function = job.run.texts.intern(function);
    row.file = job.run.texts.intern("solver.c");
    row.line = 10;
    return static_cast<std::uint32_t>(job.run.frames.size() - 1);
  };
  const std::uint32_t solve = frame("solve"), first = frame("first"), second = frame("second");
  const auto stack_from = [&](std::uint32_t caller, bool truncated) {
    CallStack& stack = job.run.stacks.emplace_back();
    stack.call_site = site;
    stack.first_frame = static_cast<std::uint32_t>(job.run.stack_frames.size());
    stack.frames = 2;
    stack.truncated = truncated;
    for (const std::uint32_t of : {solve, caller}) job.run.stack_frames.push_back({of});
    return static_cast<std::int32_t>(job.run.stacks.size() - 1);
  };
  const std::int32_t stacks[] = {stack_from(first, false), stack_from(second, true)};
  for (const Wait& wait : job.run.waits) {
    MpiCallRow& call = job.run.mpi_calls[static_cast<std::size_t>(wait.call)];
    call.stack = wait.kind == WaitKind::late_sender ? stacks[0] : stacks[1];
  }
  std::map<std::string, std::int64_t> by_path;
  for (const Json& row : job.told(WaitsBy::call_path)) {
    by_path[row["call_path"].get<std::string>()] += row["time_ns"].get<std::int64_t>();
  }
  const std::map<std::string, std::int64_t> expected = {
      {"solve (solver.c:10) < first (solver.c:10)", 10},
      {"solve (solver.c:10) < second (solver.c:10) < ...", 5 + 3 + 7}};
  CHECK(by_path == expected);
}

TEST_CASE("the way of late messages is the one on which most of their time passed") {
  TwoRanks job;
  job.add_waits();
  CHECK(job.told(WaitsBy::kind)[0]["way"].is_null());  // no message is known
  struct Sent {
    const char* protocol;
    std::vector<std::pair<Role, const char*>> path;
    std::int64_t moving_ns;
    const char* way;
  };
  // Two of the first way take longer than each other one, and none of them takes longest alone.
  const Sent all[] = {
      {"rndv/get/zcopy",
       {{Role::staging, "cuda_copy"}, {Role::data, "tcp"}, {Role::data, "rc"}, {Role::data, "tcp"}},
       60,
       "rndv/get/zcopy over rc+tcp, staged"},
      {"eager/bcopy", {{Role::control, "ud"}, {Role::data, "sysv"}}, 100, "eager/bcopy over sysv"},
      {"rndv/get/zcopy",
       {{Role::data, "rc"}, {Role::staging, "cuda_copy"}, {Role::data, "tcp"}},
       60,
       "rndv/get/zcopy over rc+tcp, staged"},
      {nullptr, {{Role::control, "ud"}}, 20, "?"}};
  std::int64_t at_ns = 2000;
  for (const Sent& sent : all) {
    const std::int64_t call = job.add_call(1, "MPI_Recv", at_ns, at_ns + 300, 0);
    Wait& wait = job.add_wait(WaitKind::late_sender, call, -1, 1);
    wait.message = static_cast<std::int64_t>(job.run.messages.size());
    wait.moving_ns = sent.moving_ns;
    wait.cause_process = -1;
    at_ns += 1000;
    Message& message = job.run.messages.emplace_back();
    if (sent.protocol != nullptr) message.protocol = job.run.texts.intern(sent.protocol);
    message.first_hop = static_cast<std::uint32_t>(job.run.hops.size());
    for (const auto& [role, transport] : sent.path) {
      Hop& hop = job.run.hops.emplace_back();
      hop.role = role;
      hop.transport = job.run.texts.intern(transport);
      ++message.hops;
    }
  }
  CHECK(job.told(WaitsBy::kind)[0]["way"] == "rndv/get/zcopy over rc+tcp, staged");
  // Each alone, in the interval in which it begins.
  std::vector<std::string> ways, expected;
  for (const Json& row : job.told(WaitsBy::time, 1000)) {
    if (row["from_ns"] >= 2000) ways.push_back(row["way"].get<std::string>());
  }
  for (const Sent& sent : all) expected.emplace_back(sent.way);
  CHECK(ways == expected);
}

TEST_CASE("waits by time are in the interval in which they begin, the first one first") {
  TwoRanks job;
  job.add_waits();
  const Json rows = job.told(WaitsBy::time, 50);
  std::map<std::uint64_t, std::uint64_t> waited;
  std::vector<std::uint64_t> order;
  for (const Json& row : rows) {
    waited[row["from_ns"]] += row["time_ns"].get<std::uint64_t>();
    order.push_back(row["from_ns"]);
  }
  CHECK(waited == std::map<std::uint64_t, std::uint64_t>{{0, 10}, {50, 5 + 3}, {100, 7}});
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("start and end of MPI are in no total of calls, nor is what is waited there") {
  TwoRanks job;
  job.add_waits();
  SUBCASE("rows that could not tell them apart leave them out") {
    const Json told = job.comms({CommsBy::rank});
    CHECK(told["start_and_end_ns"] == 9);
    std::uint64_t time_ns = 0, waiting_ns = 0;
    for (const Json& row : told["comms"]) {
      time_ns += row["time_ns"].get<std::uint64_t>();
      waiting_ns += row["waiting_ns"].get<std::uint64_t>();
    }
    CHECK(time_ns == 35);
    CHECK(waiting_ns == 15);
  }
  SUBCASE("rows by operation have them, without a share of the time in MPI") {
    double percent = 0;
    bool seen = false;
    const Json told = job.comms({CommsBy::op});
    for (const Json& row : told["comms"]) {
      if (row["op"] == "MPI_Finalize") {
        seen = true;
        CHECK(row["time_ns"] == 9);
        CHECK(row["waiting_ns"] == 0);
        CHECK(row["unknown_ns"] == 0);
        CHECK(row["time_percent"].is_null());
      } else {
        percent += row["time_percent"].get<double>();
      }
    }
    CHECK(seen);
    CHECK(percent == doctest::Approx(100));
  }
  SUBCASE("placement by waits") {
    const RankMatrix matrix = rank_matrix(job.run, PlacementBy::waits, {});
    CHECK(matrix.affinity.total() == 15);
  }
}

TEST_CASE("a receipt tells how long calls waited, and a sorted list how many are not shown") {
  TwoRanks job;
  for (std::int64_t i = 0; i < 3; ++i) {
    Message& message = job.run.messages.emplace_back();
    message.src = message.src_process = 0;
    message.dst = message.dst_process = 1;
    message.wait_ns = i * 1000;
    message.t_start_ns = i;
    message.t_end_ns = i + 10;
  }
  const Filter filter(job.run, {});
  const SortedMessages sorted = sorted_messages(job.run, filter, MessageOrder::wait, 1);
  CHECK(sorted.selected == 3);
  CHECK(sorted.first == std::vector<MessageId>{2});
  MessagesOptions options;
  options.limit = 1;
  options.ids = sorted.first;
  options.selected = sorted.selected;
  std::ostringstream out;
  write_messages(out, job.run, filter, options);
  CHECK(out.str().find("waiting: 2.0 us in MPI calls, for its other side") != std::string::npos);
  CHECK(out.str().find("# 1 of 3 messages; 2 more are selected") != std::string::npos);
}

}  // namespace uctrace

// Hypotheses on small runs whose results can be computed by hand, and their syntax.
#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command-line/hypothesis_options.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/simulate/simulate_output.hpp"
#include "log-merger/simulate/simulation.hpp"
#include "tests/unit/sample_runs.hpp"

namespace uctrace {
namespace {

class RunBuilder {
 public:
  // The functions by which each rank starts MPI and ends it.
  struct Edges {
    const char *start = "MPI_Init", *end = "MPI_Finalize";
  };

  explicit RunBuilder(std::size_t ranks, Edges edges) : edges_(edges) {
    add_processes(run, ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) call(rank, edges.start, 0, 10);
  }
  explicit RunBuilder(std::size_t ranks) : RunBuilder(ranks, Edges{}) {}

  // Each call begins `after_ns` after the last one of its rank's thread.
  std::int64_t call(std::size_t rank, const char* function, std::int64_t after_ns,
                    std::int64_t lasts_ns, std::int32_t stack = -1) {
    MpiCallRow row;
    row.process = static_cast<std::uint32_t>(rank);
    row.lane = lane;
    row.function = run.texts.intern(function);
    row.stack = stack;
    row.t_start_ns = now(rank) + after_ns;
    row.t_end_ns = row.t_start_ns + lasts_ns;
    now(rank) = row.t_end_ns;
    run.mpi_calls.push_back(row);
    return static_cast<std::int64_t>(run.mpi_calls.size()) - 1;
  }

  // All enter it, and leave 10 ns after the last one has.
  void barrier(const std::vector<std::int64_t>& after_ns) {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < after_ns.size(); ++i) last = std::max(last, now(i) + after_ns[i]);
    for (std::size_t i = 0; i < after_ns.size(); ++i) {
      const std::int64_t own =
          call(i, "MPI_Barrier", after_ns[i], last + 10 - now(i) - after_ns[i]);
      run.call_dependencies.push_back(
          {.kind = DependencyKind::operation, .call = own, .begun = own, .operation = operations_});
    }
    ++operations_;
  }

  // Rank 0 sends to rank 1, which waits for it from the start on.
  void message(std::int64_t after_ns, std::int64_t way_ns, std::uint64_t bytes,
               const char* protocol) {
    const std::int64_t sent = call(0, "MPI_Send", after_ns, 5);
    const std::int64_t sent_ns = run.mpi_calls[static_cast<std::size_t>(sent)].t_start_ns;
    const std::int64_t received = call(1, "MPI_Recv", 0, sent_ns + way_ns - now(1));
    Message row;
    row.bytes = bytes;
    row.protocol = run.texts.intern(protocol);
    row.mpi = run.texts.intern("MPI_Send");
    row.first_hop = static_cast<std::uint32_t>(run.hops.size());
    row.hops = 1;
    run.messages.push_back(row);
    Hop hop;
    hop.transport = run.texts.intern("tcp");
    hop.payload_bytes = bytes;
    run.hops.push_back(hop);
    run.call_dependencies.push_back(
        {.kind = DependencyKind::message,
         .call = received,
         .begun = received,
         .on = sent,
         .message = static_cast<std::int64_t>(run.messages.size()) - 1});
  }

  const Run& finish() {
    for (std::size_t rank = 0; rank < run.processes.size(); ++rank) {
      RankTime times;
      times.process = static_cast<std::uint32_t>(rank);
      times.t_begin_ns = 10;
      times.t_end_ns = now(rank);
      run.rank_times.push_back(times);
      call(rank, edges_.end, 0, 10);
    }
    return run;
  }

  // Where the thread's last call ended; before the first one, where that of lane 0 does.
  std::int64_t& now(std::size_t rank) {
    return now_.try_emplace({rank, lane}, now_[{rank, 0}]).first->second;
  }

  Run run;
  std::uint32_t lane = 0;  // of what is called next

 private:
  const Edges edges_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::int64_t> now_;
  std::int64_t operations_ = 0;
};

Hypotheses faster(const char* text) {
  Hypotheses hypotheses;
  hypotheses.faster.push_back(cli::parse_faster(text));
  return hypotheses;
}

Hypotheses balanced(const char* text) {
  Hypotheses hypotheses;
  cli::parse_balance(text, hypotheses);
  return hypotheses;
}

Hypotheses network(const char* text) {
  Hypotheses hypotheses;
  hypotheses.network.push_back(cli::parse_network(text));
  return hypotheses;
}

std::int64_t predicted(const Run& run, const Hypotheses& hypotheses) {
  return simulate(run, hypotheses).predicted_ns;
}

std::string refusal(const Run& run, const Hypotheses& hypotheses) {
  try {
    simulate(run, hypotheses);
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

// Two phases, in which one rank after the other is the slow one.
RunBuilder two_phases() {
  RunBuilder builder(2);
  builder.barrier({100, 300});
  builder.barrier({500, 100});
  return builder;
}

TEST_CASE("simulate: without a hypothesis a run is what it was") {
  RunBuilder builder = two_phases();
  const Simulation simulation = simulate(builder.finish(), {});
  CHECK(simulation.measured_ns == 820);
  CHECK(simulation.replay_ns == 820);
  CHECK(simulation.predicted_ns == 820);
  CHECK(simulation.dependencies == 4);
  REQUIRE(simulation.ranks.size() == 2);
  CHECK(simulation.ranks[0].computing_ns == 600);
  CHECK(simulation.ranks[1].computing_ns == 400);
}

TEST_CASE("simulate: computing, functions and ranks that are faster") {
  RunBuilder builder = two_phases();
  const Run& run = builder.finish();
  CHECK(predicted(run, faster("compute=2")) == 150 + 10 + 250 + 10);
  CHECK(predicted(run, faster("compute@1=3")) == 100 + 10 + 500 + 10);
  CHECK(predicted(run, faster("compute@0,1=2")) == 420);
  CHECK(predicted(run, faster("compute@0=0.5")) == 300 + 10 + 1000 + 10);
  // The own time of both barriers; what is waited for the other rank stays.
  CHECK(predicted(run, faster("MPI_Barrier=10")) == 300 + 1 + 500 + 1);
  Hypotheses both = faster("compute=2");
  both.faster.push_back(cli::parse_faster("compute@0=5"));
  CHECK(predicted(run, both) == 150 + 10 + 50 + 10);
}

TEST_CASE("simulate: sessions are the edges of a program that has no MPI_Init") {
  RunBuilder builder(2, {"MPI_Session_init", "MPI_Session_finalize"});
  builder.barrier({100, 300});
  // One of a library in between.
  builder.call(0, "MPI_Session_init", 10, 20);
  builder.call(0, "MPI_Session_finalize", 30, 20);
  builder.barrier({420, 100});
  const Run& run = builder.finish();
  const Simulation simulation = simulate(run, {});
  CHECK(simulation.measured_ns == 820);
  CHECK(simulation.replay_ns == 820);
  CHECK(simulation.ranks[0].computing_ns == 100 + 10 + 30 + 420);
  CHECK(simulation.ranks[1].computing_ns == 300 + 100);
  CHECK(predicted(run, faster("compute=2")) == 150 + 10 + 5 + 20 + 15 + 20 + 210 + 10);
}

TEST_CASE("simulate: what is computed before a call site") {
  RunBuilder builder(1);
  Run& run = builder.run;
  run.call_sites.push_back(
      {.label = run.texts.intern("solve (a.c:7)"), .function = run.texts.intern("solve")});
  run.stacks.push_back({.call_site = 0});
  builder.call(0, "MPI_Wtime", 100, 0, 0);
  builder.call(0, "MPI_Wtime", 100, 0);
  builder.finish();
  CHECK(predicted(run, faster("solve=4")) == 125);
  CHECK(predicted(run, faster("solve (a.c:7)=2")) == 150);
  CHECK(refusal(run, faster("solv=2")).find("solve (a.c:7)") != std::string::npos);
}

TEST_CASE("simulate: computing evened out over the run, in phases, of one rank") {
  RunBuilder builder = two_phases();
  const Run& run = builder.finish();
  // Rank 0 computes 600, rank 1 400: 500 each. 5/6 of 500, and 5/4 of 300, are what counts.
  CHECK(predicted(run, balanced("run")) == 375 + 10 + 417 + 10);
  CHECK(predicted(run, balanced("phases")) == 200 + 10 + 300 + 10);
  CHECK(predicted(run, balanced("0")) == 300 + 10 + 417 + 10);
  CHECK(predicted(run, balanced("1")) == 375 + 10 + 500 + 10);
  // What is faster is so before it is evened out: 300 and 400, so 350 each.
  Hypotheses both = balanced("run");
  both.faster.push_back(cli::parse_faster("compute@0=2"));
  CHECK(predicted(run, both) == 263 + 10 + 292 + 10);
}

TEST_CASE("simulate: messages over another network") {
  for (const char* protocol : {"eager/short", "rndv/get"}) {
    RunBuilder builder(2);
    builder.message(100, 50, 1000, protocol);
    const Run& run = builder.finish();
    CHECK(predicted(run, {}) == 150);
    // 1000 bytes at 1024^3 a second are 931 ns.
    CHECK(predicted(run, network("tcp=latency:200ns,bandwidth:1G")) == 100 + 200 + 931);
    CHECK(predicted(run, network("all=latency:0,bandwidth:1024G")) == 100 + 5);
    CHECK(refusal(run, network("rc=latency:0,bandwidth:1G")).find("all, tcp") != std::string::npos);
  }
}

TEST_CASE("simulate: threads that make partitions ready evenly") {
  RunBuilder builder(1);
  Run& run = builder.run;
  PartitionRequest request;
  request.sends = true;
  run.partition_requests.push_back(request);
  const std::int64_t start = builder.call(0, "MPI_Start", 10, 0);
  for (const std::uint32_t lane : {1, 2}) {
    builder.lane = lane;
    const std::int64_t call = builder.call(0, "MPI_Pready", lane == 1 ? 100 : 300, 0);
    PartitionEvent event;
    event.kind = PartitionEventKind::pready;
    event.lane = lane;
    event.partition = static_cast<std::int32_t>(lane);
    event.operation = 0;
    event.call = call;
    event.t_ns = run.mpi_calls[static_cast<std::size_t>(call)].t_start_ns;
    run.partition_events.push_back(event);
  }
  builder.lane = 0;
  PartitionOperation use;
  use.request = 0;
  use.start_call = start;
  use.ready_call = run.partition_events[1].call;
  use.t_start_ns = run.mpi_calls[static_cast<std::size_t>(start)].t_start_ns;
  use.t_ready_ns = run.partition_events[1].t_ns;
  run.partition_operations.push_back(use);
  // Computes for 290 until both have ended, and then for 20.
  use.complete_call = builder.call(0, "MPI_Wait", 320, 5);
  run.partition_operations[0] = use;
  builder.finish();
  Hypotheses even;
  even.even_partitions = EvenPartitions::threads;
  // The threads are ready after 100 and 300: both after 200.
  CHECK(predicted(run, even) == 10 + 200 + 20 + 5);
  // One thread alone.
  run.partition_events[1].lane = 1;
  run.mpi_calls[static_cast<std::size_t>(run.partition_events[1].call)].lane = 1;
  const Simulation alone = simulate(run, even);
  CHECK(alone.predicted_ns == 335);
  REQUIRE(alone.not_replayed.size() == 1);
  CHECK(alone.not_replayed[0].count == 1);
  even.even_partitions = EvenPartitions::partitions;
  CHECK(predicted(run, even) == 10 + 200 + 20 + 5);
}

// Two threads of a rank compute for 100 and 300 and send, before which and after which the first
// one alone meets another rank.
RunBuilder two_threads() {
  RunBuilder builder(1);
  builder.call(0, "MPI_Barrier", 50, 10);
  builder.lane = 1;
  builder.call(0, "MPI_Send", 300, 10);
  builder.lane = 0;
  builder.call(0, "MPI_Send", 100, 10);
  builder.call(0, "MPI_Barrier", 210, 10);  // 10 after the other one has sent
  return builder;
}

TEST_CASE("simulate: threads compute by themselves between calls that one of them makes alone") {
  RunBuilder builder = two_threads();
  const Run& run = builder.finish();
  CHECK(predicted(run, {}) == 60 + 310 + 20);
  CHECK(predicted(run, faster("compute=2")) == 35 + 150 + 10 + 5 + 10);
  const Simulation found = simulate(run, faster("MPI_Send=10"));
  CHECK(found.predicted_ns == 60 + 301 + 20);
  CHECK(found.ranks[0].computing_ns == -1);  // of several threads it is not known
  bool told = false;
  for (const std::string& words : found.assumptions) {
    told |= words.find(
                "of the 6 calls of ranks with several threads, 4 are taken to be serial (a "
                "heuristic)") != std::string::npos;
  }
  CHECK(told);
}

TEST_CASE("simulate: a call site is what tells serial calls from others of the same function") {
  RunBuilder builder(1);
  Run& run = builder.run;
  run.stacks.push_back({.call_site = 0});
  run.stacks.push_back({.call_site = 1});
  run.call_sites.push_back({.label = run.texts.intern("main (a.c:1)")});
  run.call_sites.push_back({.label = run.texts.intern("work (a.c:2)")});
  builder.lane = 1;
  builder.call(0, "MPI_Send", 300, 40, 1);
  builder.lane = 0;
  builder.call(0, "MPI_Send", 100, 10, 1);
  const std::int64_t last = builder.call(0, "MPI_Send", 240, 10, 0);
  builder.finish();
  CHECK(predicted(run, faster("work (a.c:2)=2")) == 150 + 40 + 10 + 10);
  // At one place it may be the same work: then each thread is by itself.
  run.mpi_calls[static_cast<std::size_t>(last)].stack = 1;
  CHECK(predicted(run, faster("MPI_Send=10")) == 100 + 1 + 240 + 1);
}

TEST_CASE("simulate: collective calls of several threads over one communicator follow each other") {
  RunBuilder builder(1);
  Run& run = builder.run;
  run.communicators.resize(2);
  const auto collective = [&](std::uint32_t lane, std::int64_t after_ns, std::int32_t over) {
    builder.lane = lane;
    const std::int64_t call = builder.call(0, "MPI_Allreduce", after_ns, 10);
    run.mpi_calls[static_cast<std::size_t>(call)].communicator = over;
  };
  collective(0, 100, 0);
  collective(1, 100, 0);  // after the other thread's
  builder.lane = 0;
  builder.now(0) = 231;  // MPI_Finalize comes 1 after the other thread's call
  builder.finish();
  CHECK(predicted(run, faster("MPI_Allreduce=10")) == 100 + 1 + 100 + 1 + 1);
  // Each over one of its own: by themselves.
  run.mpi_calls[2].communicator = 1;
  CHECK(predicted(run, faster("MPI_Allreduce=10")) == 210 + 1 + 1);
}

TEST_CASE("simulate: a rank of several threads computes as long as the mean of them") {
  RunBuilder builder(2);
  // One thread of 200, and two of 400: a mean of 300.
  builder.call(0, "MPI_Send", 200, 0);
  for (const std::uint32_t lane : {1, 0}) {
    builder.lane = lane;
    builder.call(1, "MPI_Send", 400, 0);
  }
  const Run& run = builder.finish();
  CHECK(predicted(run, balanced("run")) == 300);
}

TEST_CASE("simulate: what the run does not have is refused with what it has") {
  RunBuilder builder = two_phases();
  const Run& run = builder.finish();
  CHECK(refusal(run, faster("MPI_Barier=2")).find("MPI_Barrier") != std::string::npos);
  CHECK(refusal(run, faster("compute@7=2")).find("this run has 0, 1") != std::string::npos);
  CHECK(refusal(run, balanced("7")).find("this run has 0, 1") != std::string::npos);
  CHECK(refusal(Run(), {}).find("no call of MPI") != std::string::npos);
}

TEST_CASE("simulate: every format has the ranks, and a limit shortens them") {
  RunBuilder builder = two_phases();
  const Run& run = builder.finish();
  const auto written = [&](Format format, std::optional<std::size_t> limit) {
    std::ostringstream out;
    write_simulation(out, run, faster("compute=2"), {format, limit, Colour::off});
    return out.str();
  };
  const auto json = nlohmann::json::parse(written(Format::json, {}));
  CHECK(json["predicted_ns"] == 420);
  CHECK(json["replay_ns"] == 820);
  CHECK(json["replay_difference_percent"] == 0.0);
  CHECK(json["ranks"].size() == 2);
  CHECK(json["ranks"][1]["predicted_compute_ns"] == 200);
  CHECK_FALSE(json["assumptions"].empty());
  CHECK(nlohmann::json::parse(written(Format::json, 1))["ranks"].size() == 1);
  CHECK(written(Format::csv, {}).find("\n0,820,820,420,") != std::string::npos);
  CHECK(written(Format::table, {}).starts_with("predicted: 420 ns, 48.8 % less"));
  const std::string lines = written(Format::ndjson, {});
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 2);
}

TEST_CASE("simulate: what follows an @ may be a part of a name") {
  Run run;
  run.call_sites.resize(1);
  run.call_sites[0].function = run.texts.intern("move@2");
  run.call_sites[0].label = run.texts.intern("move@2 (a.c:1)");
  Hypotheses asked;
  for (const char* text : {"move@2=3", "move@2@2=3", "move@1=3", "move@2 (a.c:1)=3"}) {
    asked.faster.push_back(cli::parse_faster(text));
  }
  const Hypotheses found = with_whole_names(run, asked);
  CHECK(found.faster[0].what == "move@2");
  CHECK(found.faster[0].ranks.empty());
  CHECK(found.faster[1].what == "move@2");
  CHECK(found.faster[1].ranks == std::vector<std::string>{"2"});
  CHECK(found.faster[2].what == "move");
  CHECK(found.faster[2].ranks == std::vector<std::string>{"1"});
  CHECK(found.faster[3].what == "move@2 (a.c:1)");
  CHECK(found.faster[3].ranks.empty());
}

TEST_CASE("simulate: hypotheses as they are written") {
  const Faster one = cli::parse_faster("f@g (a.c:1)@0,3=1.5");
  CHECK(one.what == "f@g (a.c:1)");
  CHECK(one.ranks == std::vector<std::string>{"0", "3"});
  CHECK(one.factor == 1.5);
  const NetworkChange change = cli::parse_network("rc_mlx5=bandwidth:10G,latency:1.5us");
  CHECK(change.transport == "rc_mlx5");
  CHECK(change.latency_ns == 1500);
  CHECK(change.bytes_per_s == std::uint64_t{10} << 30);
  for (const char* text :
       {"", "compute", "compute=", "=2", "compute=0", "compute=-1", "compute=nan", "compute=inf",
        "compute=2x", "compute@=2", "compute@1,=2", "compute=1e99"}) {
    CHECK_THROWS_AS(cli::parse_faster(text), Error);
  }
  for (const char* text :
       {"", "tcp", "=latency:1us,bandwidth:1G", "tcp=", "tcp=latency:1us", "tcp=bandwidth:1G",
        "tcp=latency:1us,bandwidth:0", "tcp=latency,bandwidth:1G", "tcp=latency:9999s,bandwidth:1G",
        "tcp=speed:1,latency:1us,bandwidth:1G"}) {
    CHECK_THROWS_AS(cli::parse_network(text), Error);
  }
  Hypotheses hypotheses;
  CHECK_THROWS_AS(cli::parse_balance("1,,2", hypotheses), Error);
  cli::parse_balance("phases", hypotheses);
  CHECK(hypotheses.balance == Balance::phases);
  CHECK_THROWS_AS(cli::parse_balance("0,3", hypotheses), Error);  // it would be forgotten
}

}  // namespace
}  // namespace uctrace

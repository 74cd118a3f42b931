// Which handles of which processes are one communicator, and its name.
#include <doctest/doctest.h>

#include <set>

#include "log-merger/mpi/communicators.hpp"
#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using test::JobBuilder;

constexpr std::uint64_t kWorld = 1, kSelf = 2;

struct Made {
  const char* function;
  std::uint64_t handle, tick;
  std::uint64_t parent = kWorld;
  std::uint32_t ordinal = 1;
  std::uint32_t rank = 0, size = 2;
  std::int32_t leader = 0;
};

struct Processes {
  explicit Processes(int count) : builder(count) {
    for (int p = 0; p < count; ++p) {
      const auto rank = static_cast<std::uint32_t>(p);
      Comm& world = add(p, {"MPI_Init", kWorld, 1, 0, 1, rank, static_cast<std::uint32_t>(count)});
      world.predefined = Predefined::world;
      world.members = {{0, 1, static_cast<std::uint32_t>(count), 0}};
      world.has_members = true;
      add(p, {"MPI_Init", kSelf, 2, 0, 1, 0, 1, p}).predefined = Predefined::self;
    }
  }

  Comm& add(Rank process, const Made& made) {
    Comm comm;
    comm.handle = made.handle;
    comm.tick = made.tick;
    comm.parent = made.parent;
    comm.ordinal = made.ordinal;
    comm.rank = made.rank;
    comm.size = made.size;
    comm.leader = made.leader;
    comm.function = builder.job.run.texts.intern(made.function);
    builder.log(process).comms.push_back(comm);
    return builder.log(process).comms.back();
  }

  void join() {
    for (ProcessLog& log : builder.job.logs) sort_by_handle(log.comms);
    join_communicators(builder.job);
  }

  // By the newest of this handle at that time.
  const Comm& at(Rank process, std::uint64_t handle, std::uint64_t tick = UINT64_MAX) {
    const auto& comms = builder.log(process).comms;
    const CommIndex row = row_at(comms, handle, tick);
    REQUIRE(row != kNone);
    return comms[row];
  }
  std::string name(Rank process, std::uint64_t handle, std::uint64_t tick = UINT64_MAX) {
    return builder.job.run.texts[instance(process, handle, tick).name];
  }
  CommInstance& instance(Rank process, std::uint64_t handle, std::uint64_t tick = UINT64_MAX) {
    return builder.job.comms[at(process, handle, tick).instance];
  }

  JobBuilder builder;
};

TEST_CASE("the world is one, everybody's self is its own") {
  Processes processes(3);
  processes.join();
  CHECK(processes.builder.job.comms.size() == 4);
  CHECK(processes.name(2, kWorld) == "W0.0");
  CHECK(processes.name(2, kSelf) == "S2.0");
  CHECK(addressed_rank(processes.builder.job, ProcessIndex(1), CommIndex(0), 2) == 2);
  CHECK_FALSE(addressed_rank(processes.builder.job, ProcessIndex(1), CommIndex(0), 3));
}

TEST_CASE("halves of a split have other leaders, whatever their handles are") {
  Processes processes(4);
  for (int p = 0; p < 4; ++p) {
    const auto rank = static_cast<std::uint32_t>(p % 2);
    processes.add(p, {"MPI_Comm_split", 10 + static_cast<std::uint64_t>(p), 20, kWorld, 1, rank, 2,
                      p < 2 ? 0 : 2});
  }
  processes.join();
  CHECK(processes.name(0, 10) == "s0.1");
  CHECK(processes.at(0, 10).instance == processes.at(1, 11).instance);
  CHECK(processes.name(3, 13) == "s2.1");
  CHECK(processes.instance(3, 13).parent == processes.at(0, kWorld).instance);
}

TEST_CASE("what its leader counts is the number, of all kinds and on all parents") {
  Processes processes(2);
  for (int p = 0; p < 2; ++p) {
    const auto rank = static_cast<std::uint32_t>(p);
    processes.add(p, {"MPI_Comm_dup", 10, 20, kWorld, 1, rank});
    processes.add(p, {"MPI_Comm_split", 11, 30, 10, 1, rank});
    if (p == 0) processes.add(p, {"MPI_Comm_dup", 12, 35, kSelf, 1, 0, 1});
    processes.add(p, {"MPI_Cart_create", 13, 40, 11, 1, rank});
  }
  processes.join();
  CHECK(processes.name(1, 10) == "d0.1");
  CHECK(processes.name(1, 11) == "s0.2");
  CHECK(processes.name(0, 12) == "d0.3");
  CHECK(processes.name(1, 13) == "a0.4");
}

TEST_CASE("a handle that was freed and came again is another communicator") {
  Processes processes(2);
  for (int p = 0; p < 2; ++p) {
    const auto rank = static_cast<std::uint32_t>(p);
    processes.add(p, {"MPI_Comm_dup", 10, 20, kWorld, 1, rank}).freed_tick = 25;
    processes.add(p, {"MPI_Comm_dup", 10, 30, kWorld, 2, rank});
  }
  processes.join();
  CHECK(processes.name(1, 10, 25) == "d0.1");
  CHECK(processes.name(1, 10, 35) == "d0.2");
  CHECK(processes.instance(1, 10, 25).freed_ns >= 0);
  CHECK(processes.instance(1, 10, 35).freed_ns == -1);
}

TEST_CASE("groups that make theirs by themselves are told apart by their members") {
  Processes processes(4);
  for (const int p : {0, 1, 2, 3}) {
    const auto rank = static_cast<std::uint32_t>(p % 2);
    // Process 1 has made one with another group before: its count on the world is ahead.
    if (p == 1) {
      processes.add(p, {"MPI_Comm_create_group", 9, 15, kWorld, 1, 0, 1, 1}).group_hash = 7;
    }
    Comm& comm = processes.add(
        p, {"MPI_Comm_create_group", 10, 20, kWorld, p == 1 ? 2u : 1u, rank, 2, p < 2 ? 0 : 2});
    comm.group_hash = p < 2 ? 5 : 6;
    processes.add(p, {"MPI_Comm_create_group", 11, 30, kWorld, 3, rank, 2, p < 2 ? 0 : 2})
        .group_hash = p < 2 ? 5 : 6;
  }
  processes.join();
  CHECK(processes.at(0, 10).instance == processes.at(1, 10).instance);
  CHECK(processes.at(0, 11).instance == processes.at(1, 11).instance);
  CHECK(processes.at(0, 10).instance != processes.at(0, 11).instance);
  CHECK(processes.at(0, 10).instance != processes.at(2, 10).instance);
  CHECK(processes.name(1, 10) == "u0.1");
  CHECK(processes.name(1, 9) == "u1.1");
  CHECK(processes.name(3, 11) == "u2.2");
}

TEST_CASE("an intercommunicator has two sides, and each addresses the other one") {
  Processes processes(4);
  for (int p = 0; p < 4; ++p) {
    const bool low = p < 2;
    const auto rank = static_cast<std::uint32_t>(p % 2);
    processes.add(p, {"MPI_Comm_split", 10, 20, kWorld, 1, rank, 2, low ? 0 : 2});
    Comm& inter = processes.add(p, {"MPI_Intercomm_create", 11, 30, 10, 1, rank, 2, low ? 0 : 2});
    inter.inter = true;
    inter.remote_leader = low ? 2 : 0;
    inter.remote_size = 2;
    inter.group_hash = 3;
    inter.has_members = rank == 0;
    if (rank == 0) inter.members = {{low ? 0 : 2, 1, 2, 0}};
    processes.add(p, {"MPI_Intercomm_merge", 12, 40, 11, 1, static_cast<std::uint32_t>(p), 4, 0});
  }
  processes.join();
  CHECK(processes.at(0, 11).instance == processes.at(3, 11).instance);
  CHECK(processes.name(3, 11) == "I0.2");
  CHECK(processes.name(3, 12) == "m0.3");
  CHECK(processes.at(0, 12).instance == processes.at(3, 12).instance);
  const auto row = [&](Rank p) {
    return CommIndex(&processes.at(p, 11) - processes.builder.log(p).comms.data());
  };
  CHECK(addressed_rank(processes.builder.job, ProcessIndex(0), row(0), 1) == 3);
  CHECK(addressed_rank(processes.builder.job, ProcessIndex(3), row(3), 1) == 1);
}

TEST_CASE("without the log of its leader a communicator is numbered with a question mark") {
  Processes processes(3);
  for (const int p : {1, 2}) {
    processes.add(p, {"MPI_Comm_split", 10, 20, kWorld, 1, static_cast<std::uint32_t>(p), 3, 0});
    processes.add(p, {"MPI_Comm_split", 11, 30, kWorld, 2, static_cast<std::uint32_t>(p), 3, 0});
  }
  processes.join();
  CHECK(processes.name(1, 10) == "s0.?1");
  CHECK(processes.name(2, 11) == "s0.?2");
  CHECK(processes.at(1, 10).instance == processes.at(2, 10).instance);
}

TEST_CASE("members are listed once; without that list, those that left a log are known") {
  Processes processes(4);
  for (int p = 1; p < 4; ++p) {
    const auto rank = static_cast<std::uint32_t>(p);
    processes.add(p, {"MPI_Comm_dup", 10, 20, kWorld, 1, rank, 5, 0});
  }
  processes.join();
  const Comm& comm = processes.at(1, 10);
  const CommIndex row(&comm - processes.builder.log(1).comms.data());
  const Job& job = processes.builder.job;
  CHECK(addressed_rank(job, ProcessIndex(1), row, 0) == 0);
  CHECK(addressed_rank(job, ProcessIndex(1), row, 3) == 3);
  CHECK_FALSE(addressed_rank(job, ProcessIndex(1), row, 4));
  CHECK_FALSE(processes.instance(1, 10).sides[0].complete);
}

TEST_CASE("the program's name is shown, and that of its leader if they differ") {
  Processes processes(2);
  for (const int p : {1, 0}) {
    processes.add(p, {"MPI_Comm_dup", 10, 20, kWorld, 1, static_cast<std::uint32_t>(p)}).name =
        processes.builder.job.run.texts.intern(p == 0 ? "rows" : "others");
  }
  processes.join();
  CHECK(processes.builder.job.run.texts[processes.at(1, 10).name] == "rows");
  CHECK(processes.name(1, 10) == "d0.1");
}

// Two worlds of one job: processes 0 and 1 spawn 2 and 3.
struct Spawned : Processes {
  Spawned() : Processes(2) {
    for (int p = 2; p < 4; ++p) {
      log::test::LogBuilder log;
      log.page.world_rank = p - 2;
      log.page.pid += static_cast<std::uint32_t>(p);
      log.page.anchors[0] = {100000, 54500, 56500};  // they start when the parents spawn
      builder.job.logs.emplace_back(log.read());
      add(p, {"MPI_Init", kWorld, 120000, 0, 1, static_cast<std::uint32_t>(p - 2)}).predefined =
          Predefined::world;
    }
  }

  void spawn(int p, std::uint64_t tick, std::uint32_t children) {
    Comm& comm = add(p, {"MPI_Comm_spawn", 10, tick, kWorld, 1, static_cast<std::uint32_t>(p)});
    comm.inter = true;
    comm.remote_size = children;
    MpiCall call;
    call.process = ProcessIndex(p);
    call.function = comm.function;
    call.start_tick = 50000;
    call.start_ns = builder.log(p).clock.job_ns(call.start_tick);
    builder.log(p).calls_of_lane.resize(1);
    builder.log(p).calls_of_lane[0].push_back(builder.job.calls.add(call));
  }

  void parent(int p) {
    Comm& comm = add(p, {"MPI_Init", 10, 120001, 0, 1, static_cast<std::uint32_t>(p - 2)});
    comm.predefined = Predefined::parent;
    comm.inter = true;
    comm.remote_size = 2;
  }
};

TEST_CASE("a spawned world's parent is what the parents spawned") {
  Spawned worlds;
  for (const int p : {0, 1}) worlds.spawn(p, 130000, 2);
  for (const int p : {2, 3}) worlds.parent(p);
  worlds.join();
  CHECK(worlds.builder.log(1).world == 0);
  CHECK(worlds.builder.log(3).world == 1);
  CHECK(worlds.name(2, kWorld) == "W0.0@2");
  CHECK(worlds.at(0, 10).instance == worlds.at(3, 10).instance);
  CHECK(worlds.name(3, 10) == "p0.1");
  CHECK(worlds.builder.job.run.notes.empty());
}

TEST_CASE(
    "who joins whom over a socket is one communicator, of the lower rank wherever it is known") {
  Processes processes(3);
  for (const int p : {2, 0}) {
    Comm& comm = processes.add(p, {"MPI_Comm_join", 10, p == 2 ? 20u : 25u, 0, 1, 0, 1, p});
    comm.inter = true;
    comm.remote_size = 1;
    comm.remote_leader = 2 - p;
    MpiCall call;
    call.process = ProcessIndex(p);
    call.function = comm.function;
    call.start_tick = 5;
    call.start_ns = 0;
    processes.builder.log(p).calls_of_lane.resize(1);
    processes.builder.log(p).calls_of_lane[0] = {processes.builder.job.calls.add(call)};
  }
  processes.join();
  CHECK(processes.at(0, 10).instance == processes.at(2, 10).instance);
  CHECK(processes.name(2, 10) == "k0.1");
  CHECK(processes.at(2, 10).side == 1);
}

TEST_CASE("sides of other sizes are not joined, and a note says so") {
  Spawned worlds;
  for (const int p : {0, 1}) worlds.spawn(p, 130000, 3);
  for (const int p : {2, 3}) worlds.parent(p);
  worlds.join();
  CHECK(worlds.at(0, 10).instance != worlds.at(3, 10).instance);
  CHECK(worlds.name(1, 10) == "p0.1");
  CHECK(worlds.name(3, 10) == "p0.?1@2");
  REQUIRE(worlds.builder.job.run.notes.size() == 1);
}

TEST_CASE("names are unique, even of logs that make no sense") {
  Processes processes(2);
  for (const int p : {0, 1}) {
    for (std::uint64_t i = 0; i < 3; ++i) {
      Comm& comm = processes.add(p, {"MPI_Nothing", 10 + i, 20, 77, 1, 0, 2, 0});
      comm.predefined = i == 1 ? Predefined::self : Predefined::none;
    }
  }
  processes.join();
  std::set<TextId> names;
  for (const CommInstance& instance : processes.builder.job.comms) names.insert(instance.name);
  CHECK(names.size() == processes.builder.job.comms.size());
}

}  // namespace
}  // namespace uctrace::merge

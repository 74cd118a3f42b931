// Partitioned communication: overlapping partitions compared with counting bytes one by one,
// requests matched by the order of their initialisation, and the facts that calls give about each
// use.
#include "log-merger/partitions/partitions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "log-merger/partitions/partition_lines.hpp"
#include "log-merger/partitions/partition_matching.hpp"
#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using test::JobBuilder;

TEST_CASE("partitions overlap where a byte is in both") {
  for (std::uint64_t sends = 1; sends <= 12; ++sends) {
    for (std::uint64_t receives = 1; receives <= 12; ++receives) {
      const std::uint64_t bytes = sends * receives;
      std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> naive, found, backward;
      for (std::uint64_t byte = 0; byte < bytes; ++byte) {
        ++naive[{byte / (bytes / sends), byte / (bytes / receives)}];
      }
      for (std::uint64_t i = 0; i < sends; ++i) {
        const PartitionRange range = overlapping(i, sends, receives);
        for (std::uint64_t j = range.first; j < range.end; ++j) {
          found[{i, j}] = common_bytes(i, sends, j, receives, bytes);
        }
      }
      for (std::uint64_t j = 0; j < receives; ++j) {
        const PartitionRange range = overlapping(j, receives, sends);
        for (std::uint64_t i = range.first; i < range.end; ++i) {
          backward[{i, j}] = common_bytes(i, sends, j, receives, bytes);
        }
      }
      CAPTURE(sends);
      CAPTURE(receives);
      CHECK(found == naive);
      CHECK(backward == naive);
    }
  }
}

TEST_CASE("bytes of partitions beyond 32 bits, and of a size that their number does not divide") {
  constexpr std::uint64_t kMany = 1U << 20, kBytes = std::uint64_t{1} << 50;
  CHECK(common_bytes(kMany - 1, kMany, kMany - 1, kMany, kBytes) == kBytes / kMany);
  CHECK(common_bytes(0, 1, kMany - 1, kMany, kBytes) == kBytes / kMany);
  CHECK(common_bytes(0, 2, 1, 2, kBytes) == 0);
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 3; ++i) {
    for (std::uint64_t j = 0; j < 7; ++j) sum += common_bytes(i, 3, j, 7, 1000);
  }
  CHECK(sum == 1000);
}

TEST_CASE("the order of initialisation is not known of calls that overlap, one with the next") {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<InitSpan> inits(random() % 8);
    std::uint64_t tick = 0;
    for (InitSpan& init : inits) {
      tick += random() % 4;
      init = {tick, tick + 1 + random() % 4};
    }
    std::vector<bool> naive(inits.size());
    for (std::size_t i = 0; i < inits.size(); ++i) {
      for (std::size_t k = 0; k < inits.size(); ++k) {
        const bool overlap =
            inits[i].start_tick < inits[k].end_tick && inits[k].start_tick < inits[i].end_tick;
        if (i != k && overlap) naive[i] = true;
      }
    }
    CHECK(unclear_order(inits) == naive);
  }
}

// Two processes on one communicator.
struct PartitionedProgram {
  PartitionedProgram() : builder(2) {
    CommInstance instance;
    instance.sides[0].size = 2;
    instance.sides[0].world = 0;
    instance.sides[0].members = {{0, 1, 2, 0}};
    builder.job.comms.push_back(instance);
    for (int process = 0; process < 2; ++process) {
      Comm comm;
      comm.instance = InstanceIndex(0);
      comm.size = 2;
      builder.log(process).comms.push_back(comm);
      builder.log(process).calls_of_lane.resize(1);
      builder.log(process).world = 0;
    }
  }

  CallIndex call(Rank process, const char* function, std::uint64_t begin, std::uint64_t end,
                 std::uint64_t request) {
    MpiCall row;
    row.process = process;
    row.function = builder.job.run.texts.intern(function);
    row.request = request;
    row.start_tick = begin;
    row.end_tick = end;
    row.start_ns = static_cast<std::int64_t>(begin);
    row.end_ns = static_cast<std::int64_t>(end);
    const CallIndex index = builder.job.calls.add(row);
    builder.log(process).calls_of_lane[0].push_back(index);
    return index;
  }

  CallIndex init(Rank process, std::uint64_t at, std::uint64_t request, std::uint32_t partitions,
                 int tag = 7, std::uint64_t bytes = 12) {
    const bool sends = process == Rank(0);
    const CallIndex index =
        call(process, sends ? "MPI_Psend_init" : "MPI_Precv_init", at, at + 1, request);
    MpiCall& row = builder.job.calls[index];
    row.comm = CommIndex(0);
    row.peer = process.other().number();
    row.tag = tag;
    row.bytes = bytes;
    builder.log(process).call_partitions[index].list = {partitions};
    return index;
  }
  void ready(std::uint64_t at, std::uint64_t request, std::int64_t first, std::int64_t last) {
    const CallIndex index = call(0, "MPI_Pready_range", at, at + 1, request);
    builder.log(0).call_partitions[index] = {first, last, {}};
  }
  void ask(std::uint64_t at, std::uint64_t request, std::int64_t partition, Answer answer) {
    const CallIndex index = call(1, "MPI_Parrived", at, at + 1, request);
    builder.log(1).call_partitions[index] = {partition, partition, {}};
    builder.job.calls[index].answer = answer;
  }
  Run& find() {
    find_partitions(builder.job);
    return builder.job.run;
  }

  JobBuilder builder;
};

TEST_CASE("requests of one sender, receiver, communicator and tag match by their initialisation") {
  std::mt19937 random(2);
  for (int round = 0; round < 50; ++round) {
    PartitionedProgram program;
    std::map<int, std::vector<std::int64_t>> of_tag[2];  // calls, by tag
    std::uint64_t at = 10;
    for (int i = 0; i < 12; ++i, at += 10) {
      const int side = static_cast<int>(random() % 2), tag = static_cast<int>(random() % 3);
      const CallIndex call = program.init(side, at, 100 + at, 2, tag);
      of_tag[side][tag].push_back(call.number());
    }
    const Run& run = program.find();
    REQUIRE(run.partition_requests.size() == 12);
    for (const PartitionRequest& request : run.partition_requests) {
      const int side = request.sends ? 0 : 1;
      const auto& own = of_tag[side][request.tag];
      const auto& others = of_tag[1 - side][request.tag];
      const auto k = std::find(own.begin(), own.end(), request.call) - own.begin();
      if (k < static_cast<std::ptrdiff_t>(others.size())) {
        REQUIRE(request.match == PartitionMatch::matched);
        const auto& partner = run.partition_requests[static_cast<std::size_t>(request.partner)];
        CHECK(partner.call == others[static_cast<std::size_t>(k)]);
      } else {
        CHECK(request.match == PartitionMatch::no_partner);
        CHECK(request.partner == -1);
      }
    }
  }
}

TEST_CASE("the order of starts does not matter, and requests of different sizes do not match") {
  PartitionedProgram program;
  program.init(0, 10, 1, 2, 7, 12);
  program.init(0, 20, 2, 2, 7, 24);
  program.init(0, 30, 3, 2, 9, 12);
  program.init(1, 10, 4, 3, 7, 12);
  program.init(1, 20, 5, 3, 7, 24);
  program.init(1, 30, 6, 3, 9, 24);
  program.call(0, "MPI_Start", 40, 41, 2);
  program.call(0, "MPI_Start", 50, 51, 1);
  program.call(1, "MPI_Start", 40, 41, 4);
  program.call(1, "MPI_Start", 50, 51, 5);
  const Run& run = program.find();
  REQUIRE(run.partition_operations.size() == 4);
  CHECK(run.partition_operations[0].partner == 2);
  CHECK(run.partition_operations[0].t_start_ns == 50);
  CHECK(run.partition_operations[2].t_start_ns == 40);
  CHECK(run.partition_requests[2].match == PartitionMatch::sizes_differ);
  CHECK(run.partition_requests[5].partner == -1);
}

TEST_CASE(
    "a partition has arrived when an MPI_Parrived says so, else when the receive is complete") {
  PartitionedProgram program;
  program.init(0, 10, 1, 3, 7, 6);
  program.init(1, 10, 2, 2, 7, 6);
  for (const std::uint64_t t : {std::uint64_t{100}, std::uint64_t{1000}}) {
    program.call(0, "MPI_Start", t, t + 1, 1);
    program.call(1, "MPI_Start", t, t + 1, 2);
    program.ask(t + 10, 2, 1, Answer::no);
    program.ready(t + 20, 1, 1, 2);
    program.ask(t + 30, 2, 1, Answer::yes);
    program.ask(t + 40, 2, 1, Answer::yes);
    program.ready(t + 50, 1, 0, 0);
    program.call(0, "MPI_Wait", t + 60, t + 61, 1);
    const CallIndex test = program.call(1, "MPI_Test", t + 45, t + 46, 2);
    program.builder.job.calls[test].answer = Answer::no;
    program.call(1, "MPI_Wait", t + 60, t + 70, 2);
    program.call(1, "MPI_Wait", t + 80, t + 90, 2);  // it is not in use: means nothing
  }
  const Run& run = program.find();
  REQUIRE(run.partition_operations.size() == 4);
  const PartitionOperation &send = run.partition_operations[1],
                           &receive = run.partition_operations[3];
  CHECK(send.number == 1);
  CHECK(send.ready == 3);
  CHECK(send.t_ready_ns == 1050);
  CHECK(receive.arrived == 1);
  CHECK(receive.t_complete_ns == 1070);
  // Figure 8 (c) and (d) of the paper.
  REQUIRE(run.partition_lines.size() == 8);
  const std::uint64_t bytes[] = {2, 1, 1, 2}, from[] = {0, 1, 1, 2}, to[] = {0, 0, 1, 1};
  const std::int64_t ready[] = {1050, 1020, 1020, 1020}, arrived[] = {1070, 1070, 1031, 1031};
  for (std::size_t i = 0; i < 4; ++i) {
    const PartitionLine& line = run.partition_lines[4 + i];
    CAPTURE(i);
    CHECK(line.bytes == bytes[i]);
    CHECK(line.send_partition == from[i]);
    CHECK(line.receive_partition == to[i]);
    CHECK(line.t_ready_ns == ready[i]);
    CHECK(line.t_arrived_ns == arrived[i]);
    CHECK(line.by_parrived == (i >= 2));
  }
  std::map<PartitionEventKind, int> kinds;
  for (const PartitionEvent& event : run.partition_events) ++kinds[event.kind];
  using Kind = PartitionEventKind;
  CHECK(kinds == std::map<Kind, int>{{Kind::psend_init, 1},
                                     {Kind::precv_init, 1},
                                     {Kind::pready, 6},
                                     {Kind::parrived, 4},
                                     {Kind::ptested, 2},
                                     {Kind::psend_request, 2},
                                     {Kind::precv_request, 2},
                                     {Kind::psend_complete, 2},
                                     {Kind::precv_complete, 2}});
}

TEST_CASE("a send of which a partition was never ready has no time when all were") {
  PartitionedProgram program;
  program.init(0, 10, 1, 2);
  program.init(1, 10, 2, 2);
  program.call(0, "MPI_Start", 100, 101, 1);
  program.call(1, "MPI_Start", 100, 101, 2);
  program.ready(110, 1, 1, 5'000'000'000);  // possible only in a damaged log
  const Run& run = program.find();
  CHECK(run.partition_operations[0].ready == 1);
  CHECK(run.partition_operations[0].t_ready_ns == -1);
  REQUIRE(run.partition_lines.size() == 2);
  CHECK(run.partition_lines[0].t_ready_ns == -1);
  CHECK(run.partition_lines[1].t_ready_ns == 110);
  CHECK(run.partition_lines[1].t_arrived_ns == -1);
}

TEST_CASE("through an intercommunicator the partner is of the other world") {
  PartitionedProgram program;
  program.builder.log(1).world = 1;  // both are rank 0 of a world of their own
  CommInstance inter;
  inter.inter = true;
  for (int side = 0; side < 2; ++side) {
    inter.sides[side].world = side;
    inter.sides[side].size = 1;
    inter.sides[side].members = {{side, 1, 1, 0}};  // the rank that the builder gives its log
    Comm comm;
    comm.instance = InstanceIndex(1);
    comm.inter = true;
    comm.side = static_cast<std::uint8_t>(side);
    program.builder.log(side).comms.push_back(comm);
  }
  program.builder.job.comms.push_back(inter);
  for (int side = 0; side < 2; ++side) {
    MpiCall& made = program.builder.job.calls[program.init(side, 10, 1, 2)];
    made.comm = CommIndex(1);
    made.peer = 0;
  }
  const Run& run = program.find();
  REQUIRE(run.partition_requests.size() == 2);
  for (int side = 0; side < 2; ++side) {
    const PartitionRequest& request = run.partition_requests[static_cast<std::size_t>(side)];
    CHECK(request.match == PartitionMatch::matched);
    CHECK(request.peer_process == 1 - side);
  }
}

}  // namespace
}  // namespace uctrace::merge

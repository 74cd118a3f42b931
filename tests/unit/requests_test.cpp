// The communicators to which the time of waits is attributed.
#include "log-merger/mpi/requests.hpp"

#include <doctest/doctest.h>

#include <map>

#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using test::JobBuilder;

constexpr std::uint64_t kFirst = 0x10, kSecond = 0x20, kThird = 0x30;

// One process with two communicators.
constexpr CommIndex kComm0(0), kComm1(1);

struct RequestingProgram {
  RequestingProgram() : builder(1) {
    builder.log(0).calls_of_lane.resize(1);
    for (int i = 0; i < 2; ++i) {
      Comm comm;
      comm.instance = InstanceIndex(i + 10);
      builder.log(0).comms.push_back(comm);
    }
  }

  CallIndex call(const char* function, CommIndex comm, std::uint64_t begin, std::uint64_t end,
                 std::uint64_t request = 0) {
    MpiCall row;
    row.process = ProcessIndex(0);
    row.function = builder.job.run.texts.intern(function);
    row.comm = comm;
    row.request = request;
    row.start_tick = begin;
    row.end_tick = end;
    row.start_ns = static_cast<std::int64_t>(begin);
    row.end_ns = static_cast<std::int64_t>(end);
    const CallIndex index = builder.job.calls.add(row);
    builder.log(0).calls_of_lane[0].push_back(index);
    return index;
  }

  void given(CallIndex call, std::vector<std::uint64_t> handles) {
    builder.log(0).call_requests[call].handles = std::move(handles);
  }
  void ended(CallIndex call, std::vector<std::uint32_t> positions) {
    builder.log(0).call_requests[call].ended = std::move(positions);
    builder.log(0).call_requests[call].ended_known = true;
  }
  // The UCP operation of a call completed at that time.
  void complete(CallIndex call, std::int64_t at_ns) {
    const UcpIndex op = builder.send(0, 0, 1, 8, 1);
    builder.ucp(op).asked_by = call;
    builder.ucp(op).end_ns = at_ns;
  }

  const MpiCall& at(CallIndex call) { return builder.job.calls[call]; }
  std::map<int, std::int64_t> shares(CallIndex call) {
    std::map<int, std::int64_t> found;
    for (const TimeShare& share : builder.job.shares) {
      if (share.call == call) found[share.instance.number()] = share.ns;
    }
    return found;
  }
  using Shares = std::map<int, std::int64_t>;

  JobBuilder builder;
};

TEST_CASE("a wait is on the communicator of its request, and a handle means the newest") {
  RequestingProgram program;
  program.call("MPI_Isend", kComm0, 10, 20, kFirst);
  const CallIndex first = program.call("MPI_Wait", kNone, 30, 40, kFirst);
  program.call("MPI_Irecv", kComm1, 50, 60, kFirst);
  const CallIndex second = program.call("MPI_Wait", kNone, 70, 80, kFirst);
  const CallIndex unknown = program.call("MPI_Wait", kNone, 90, 95, kSecond);
  share_waits(program.builder.job);
  CHECK(program.at(first).comm == kComm0);
  CHECK(program.at(second).comm == kComm1);
  CHECK(program.at(unknown).comm == kNone);
  CHECK(program.builder.job.shares.empty());
}

TEST_CASE("the time of a wait for requests of two communicators is divided as they ended") {
  RequestingProgram program;
  const CallIndex a = program.call("MPI_Isend", kComm0, 10, 20, kFirst);
  const CallIndex b = program.call("MPI_Irecv", kComm1, 20, 30, kSecond);
  const CallIndex c = program.call("MPI_Iallreduce", kComm0, 30, 40, kThird);
  const CallIndex wait = program.call("MPI_Waitall", kNone, 100, 200);
  program.given(wait, {kFirst, kSecond, kThird});
  program.complete(a, 50);  // before the wait began
  program.complete(b, 130);
  program.complete(c, 180);
  share_waits(program.builder.job);
  CHECK(program.at(wait).comm == kNone);
  CHECK(program.shares(wait) == RequestingProgram::Shares{{10, 70}, {11, 30}});
}

TEST_CASE("what is not known to have ended before its wait did, ended with it") {
  RequestingProgram program;
  const CallIndex a = program.call("MPI_Isend", kComm0, 10, 20, kFirst);
  program.call("MPI_Irecv", kComm1, 20, 30, kSecond);
  const CallIndex wait = program.call("MPI_Waitall", kNone, 100, 200);
  program.given(wait, {kFirst, kSecond});
  program.complete(a, 140);
  share_waits(program.builder.job);
  CHECK(program.shares(wait) == RequestingProgram::Shares{{10, 40}, {11, 60}});
}

TEST_CASE("a wait for any or some is for what ended") {
  RequestingProgram program;
  program.call("MPI_Isend", kComm0, 10, 20, kFirst);
  program.call("MPI_Irecv", kComm1, 20, 30, kSecond);
  const CallIndex any = program.call("MPI_Waitany", kNone, 100, 200, kSecond);
  program.given(any, {kFirst, kSecond});
  const CallIndex some = program.call("MPI_Waitsome", kNone, 210, 220);
  program.given(some, {kFirst, kSecond});
  program.ended(some, {0});
  const CallIndex poll = program.call("MPI_Testany", kNone, 230, 240, kFirst);
  share_waits(program.builder.job);
  CHECK(program.at(any).comm == kComm1);
  CHECK(program.at(some).comm == kComm0);
  CHECK(program.at(poll).comm == kComm0);
}

TEST_CASE("a persistent request ends when what its last start asked for does") {
  RequestingProgram program;
  program.call("MPI_Send_init", kComm0, 1, 2, kFirst);
  program.call("MPI_Recv_init", kComm1, 3, 4, kSecond);
  const CallIndex old = program.call("MPI_Startall", kNone, 10, 20);
  const CallIndex start = program.call("MPI_Start", kNone, 40, 50, kFirst);
  const CallIndex other = program.call("MPI_Start", kNone, 50, 60, kSecond);
  const CallIndex wait = program.call("MPI_Waitall", kNone, 100, 200);
  program.given(old, {kFirst, kSecond});
  program.given(wait, {kFirst, kSecond});
  program.complete(old, 190);
  program.complete(start, 120);
  program.complete(other, 150);
  program.builder.job.calls[0].bytes = 100;
  program.builder.job.calls[1].bytes = 30;
  name_starts(program.builder.job);
  share_waits(program.builder.job);
  CHECK(program.at(old).bytes == 100);
  CHECK(program.at(old).recv_bytes == 30);
  CHECK(program.at(other).recv_bytes == 30);
  CHECK(program.at(old).comm == kNone);
  CHECK(program.at(start).comm == kComm0);
  CHECK(program.at(other).comm == kComm1);
  CHECK(program.shares(wait) == RequestingProgram::Shares{{10, 20}, {11, 80}});
}

TEST_CASE("a handle that several requests have names no communicator that is not certain") {
  RequestingProgram program;
  const auto sends_on = [&](CommIndex first, CommIndex second, std::uint64_t from) {
    program.call("MPI_Isend", first, from, from + 1, kFirst);
    program.call("MPI_Isend", second, from + 2, from + 3, kFirst);
  };
  sends_on(kComm0, kComm1, 10);
  const CallIndex one = program.call("MPI_Wait", kNone, 20, 21, kFirst);
  const CallIndex other = program.call("MPI_Wait", kNone, 22, 23, kFirst);
  sends_on(kComm1, kComm1, 30);
  const CallIndex same = program.call("MPI_Wait", kNone, 40, 41, kFirst);
  const CallIndex rest = program.call("MPI_Wait", kNone, 42, 43, kFirst);
  sends_on(kComm0, kComm1, 50);
  const CallIndex all = program.call("MPI_Waitall", kNone, 100, 200);
  program.given(all, {kFirst, kFirst});
  program.call("MPI_Isend", kComm0, 210, 211, kFirst);
  const CallIndex alone = program.call("MPI_Wait", kNone, 212, 213, kFirst);
  share_waits(program.builder.job);
  CHECK(program.at(one).comm == kNone);
  CHECK(program.at(other).comm == kNone);
  CHECK(program.at(same).comm == kComm1);
  CHECK(program.at(rest).comm == kComm1);
  CHECK(program.at(all).comm == kNone);
  CHECK(program.shares(all).size() == 2);
  CHECK(program.at(alone).comm == kComm0);
}

TEST_CASE("a persistent request is ended by being freed, not by waits") {
  RequestingProgram program;
  program.call("MPI_Send_init", kComm0, 1, 2, kFirst);
  std::vector<CallIndex> waits;
  for (std::uint64_t tick : {10, 20, 30}) {
    program.call("MPI_Start", kNone, tick, tick + 1, kFirst);
    waits.push_back(program.call("MPI_Wait", kNone, tick + 2, tick + 3, kFirst));
  }
  program.call("MPI_Request_free", kNone, 40, 41, kFirst);
  program.call("MPI_Isend", kComm1, 50, 51, kFirst);
  waits.push_back(program.call("MPI_Wait", kNone, 52, 53, kFirst));
  name_starts(program.builder.job);
  share_waits(program.builder.job);
  for (const CallIndex wait : waits)
    CHECK(program.at(wait).comm == (wait == waits.back() ? kComm1 : kComm0));
}

TEST_CASE("a receive of a probed message is on the communicator of the probe") {
  RequestingProgram program;
  program.call("MPI_Improbe", kComm1, 1, 2, kFirst);
  const CallIndex receive = program.call("MPI_Imrecv", kNone, 3, 4, kSecond);
  program.given(receive, {kFirst});
  const CallIndex wait = program.call("MPI_Wait", kNone, 5, 6, kSecond);
  name_starts(program.builder.job);
  share_waits(program.builder.job);
  CHECK(program.at(receive).comm == kComm1);
  CHECK(program.at(wait).comm == kComm1);
}

TEST_CASE("null requests and positions that are none change nothing") {
  RequestingProgram program;
  const CallIndex nulls = program.call("MPI_Waitall", kNone, 100, 200);
  program.given(nulls, {kFirst, kSecond});
  program.ended(nulls, {7});
  const CallIndex none = program.call("MPI_Waitall", kNone, 210, 220);
  share_waits(program.builder.job);
  CHECK(program.at(nulls).comm == kNone);
  CHECK(program.at(none).comm == kNone);
  CHECK(program.builder.job.shares.empty());
}

}  // namespace
}  // namespace uctrace::merge

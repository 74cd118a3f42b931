// The MPI call that caused an operation, for Open MPI's tags: MPI tag << 40 | source << 20 |
// context.
#include <doctest/doctest.h>

#include "log-merger/mpi/mpi_call_kind.hpp"
#include "log-merger/mpi/requests.hpp"
#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using test::JobBuilder;

std::uint64_t tag_of(std::int32_t tag, std::uint64_t context) {
  return static_cast<std::uint64_t>(std::int64_t{tag}) << 40 | context;
}

// One process that makes calls and sends within them.
struct LinkedProgram {
  LinkedProgram() : builder(2) {
    builder.log(0).flavour = MpiFlavour::open_mpi;
    builder.log(0).calls_of_lane.resize(1);
  }

  CommIndex comm(const char* name, std::uint64_t from, std::uint64_t until = UINT64_MAX) {
    Comm row;
    row.handle = 0x500 + from;
    row.tick = from;
    row.freed_tick = until;
    row.name = builder.job.run.texts.intern(name);
    return builder.log(0).comms.add(row);
  }

  // A call of ten ticks.
  CallIndex call(const char* function, CommIndex comm, std::uint64_t tick, std::int32_t tag = 0) {
    MpiCall row;
    row.process = ProcessIndex(0);
    row.function = builder.job.run.texts.intern(function);
    row.comm = comm;
    row.start_tick = tick;
    row.end_tick = tick + 9;
    row.peer = 1;
    row.tag = tag;
    const CallIndex index = builder.job.calls.add(row);
    builder.log(0).calls_of_lane[0].push_back(index);
    return index;
  }

  void request(CallIndex call, std::uint64_t handle) { builder.job.calls[call].request = handle; }
  void given(CallIndex call, std::vector<std::uint64_t> handles) {
    builder.log(0).call_requests[call].handles = std::move(handles);
  }
  void link() {
    name_starts(builder.job);
    link_mpi(builder.job);
  }

  void check(UcpIndex op, CallIndex asked_by, CommIndex comm) {
    CHECK(builder.ucp(op).asked_by == asked_by);
    CHECK(builder.ucp(op).comm == comm);
  }

  JobBuilder builder;
};

TEST_CASE("what a wait drives belongs to the collective that began it, Ineighbor ones too") {
  for (const char* function : {"MPI_Iallreduce", "MPI_Ineighbor_alltoall"}) {
    CAPTURE(function);
    LinkedProgram program;
    const CommIndex world = program.comm("world", 1);
    const CallIndex started = program.call(function, world, 10);
    program.call("MPI_Waitall", kNone, 20);
    const UcpIndex within = program.builder.send(0, 1, tag_of(-30, 5), 8, 12);
    const UcpIndex later = program.builder.send(0, 1, tag_of(-30, 5), 8, 22);
    link_mpi(program.builder.job);
    program.check(within, started, world);
    program.check(later, started, world);
  }
}

TEST_CASE("a collective driven inside a call on another communicator keeps its owner") {
  LinkedProgram program;
  const CommIndex a = program.comm("a", 1), b = program.comm("b", 2);
  const CallIndex started = program.call("MPI_Ialltoall", a, 10);
  const CallIndex other = program.call("MPI_Send", b, 20, 3);
  const UcpIndex begun = program.builder.send(0, 1, tag_of(-30, 5), 8, 12);
  const UcpIndex driven = program.builder.send(0, 1, tag_of(-30, 5), 8, 22);
  const UcpIndex own = program.builder.send(0, 1, tag_of(3, 6), 8, 23);
  link_mpi(program.builder.job);
  program.check(begun, started, a);
  program.check(driven, started, a);
  program.check(own, other, b);
}

TEST_CASE("a communicator that takes over context and tags takes over no calls") {
  LinkedProgram program;
  const CommIndex old = program.comm("old", 1, 30), young = program.comm("young", 40);
  const CallIndex first = program.call("MPI_Iallreduce", old, 10);
  const CallIndex second = program.call("MPI_Ibcast", young, 50);
  program.call("MPI_Wait", kNone, 60);
  const UcpIndex of_first = program.builder.send(0, 1, tag_of(-30, 5), 8, 12);
  const UcpIndex of_second = program.builder.send(0, 1, tag_of(-30, 5), 8, 52);
  const UcpIndex waited_for = program.builder.send(0, 1, tag_of(-30, 5), 8, 62);
  link_mpi(program.builder.job);
  program.check(of_first, first, old);
  program.check(of_second, second, young);
  program.check(waited_for, second, young);
}

TEST_CASE("the context of a window is its own: it says nothing of the communicator's") {
  LinkedProgram program;
  const CommIndex base = program.comm("base", 1), old = program.comm("old", 2, 35);
  program.request(program.call("MPI_Send_init", old, 3, 3), 0x10);
  program.request(program.call("MPI_Start", kNone, 15), 0x10);
  const UcpIndex started = program.builder.send(0, 1, tag_of(3, 5), 8, 16);
  const CallIndex fence = program.call("MPI_Win_fence", base, 40);
  program.builder.job.calls[fence].on_window = true;
  const UcpIndex inside = program.builder.send(0, 1, tag_of(-30, 5), 8, 42);
  program.link();
  program.check(inside, fence, base);
  CHECK(program.builder.ucp(started).comm == old);
}

TEST_CASE("what is started is on the communicators of the calls that made the requests") {
  LinkedProgram program;
  const CommIndex a = program.comm("a", 1), b = program.comm("b", 2);
  program.request(program.call("MPI_Send_init", a, 10, 3), 0x10);
  program.request(program.call("MPI_Send_init", b, 20, 3), 0x20);
  const CallIndex both = program.call("MPI_Startall", kNone, 30);
  program.given(both, {0x20, 0x10});
  const CallIndex one = program.call("MPI_Start", kNone, 50);
  program.request(one, 0x10);
  const UcpIndex first = program.builder.send(0, 1, tag_of(3, 6), 8, 32);
  const UcpIndex second = program.builder.send(0, 1, tag_of(3, 5), 8, 33);
  const UcpIndex other = program.builder.send(0, 1, tag_of(4, 5), 8, 34);
  const UcpIndex again = program.builder.send(0, 1, tag_of(3, 5), 8, 52);
  program.link();
  program.check(first, both, b);
  program.check(second, both, a);
  program.check(other, kNone, kNone);
  program.check(again, one, a);
}

TEST_CASE("a request whose handle was used again is the newer one") {
  LinkedProgram program;
  const CommIndex comm = program.comm("persistent", 1, 40), later = program.comm("later", 50);
  program.request(program.call("MPI_Send_init", comm, 10, 3), 0x10);
  const CallIndex start = program.call("MPI_Start", kNone, 20);
  program.request(program.call("MPI_Send_init", later, 60, 3), 0x10);
  const CallIndex start_later = program.call("MPI_Start", kNone, 80);
  for (const CallIndex index : {start, start_later}) program.request(index, 0x10);
  const UcpIndex sent = program.builder.send(0, 1, tag_of(3, 5), 8, 22);
  const UcpIndex sent_later = program.builder.send(0, 1, tag_of(3, 5), 8, 82);
  program.link();
  program.check(sent, start, comm);
  program.check(sent_later, start_later, later);
}

TEST_CASE("a persistent collective is its newest start's, whichever call drives it") {
  LinkedProgram program;
  const CommIndex a = program.comm("a", 1), b = program.comm("b", 2);
  program.request(program.call("MPI_Alltoall_init", a, 10), 0x10);
  program.request(program.call("MPIX_Alltoall_init", b, 20), 0x20);
  const CallIndex both = program.call("MPI_Startall", kNone, 30);
  program.given(both, {0x10, 0x20});
  const CallIndex wait = program.call("MPI_Waitall", kNone, 40);
  const CallIndex again = program.call("MPI_Start", kNone, 50);
  program.request(again, 0x20);
  const CallIndex send = program.call("MPI_Send", a, 60, 3);
  const UcpIndex of_a = program.builder.send(0, 1, tag_of(-30, 5), 8, 32);
  const UcpIndex of_b = program.builder.send(0, 1, tag_of(-30, 6), 8, 33);
  const UcpIndex driven = program.builder.send(0, 1, tag_of(-30, 5), 8, 42);
  const UcpIndex old = program.builder.send(0, 1, tag_of(-30, 5), 8, 52);
  const UcpIndex restarted = program.builder.send(0, 1, tag_of(-30, 6), 8, 53);
  const UcpIndex later = program.builder.send(0, 1, tag_of(-30, 6), 8, 62);
  program.link();
  program.check(of_a, both, a);
  program.check(of_b, both, b);
  program.check(driven, both, a);
  program.check(old, both, a);  // started before, and progressed by the start of another
  program.check(restarted, again, b);
  program.check(later, again, b);
  CHECK(program.builder.ucp(driven).call == wait);
  CHECK(program.builder.ucp(later).call == send);
}

TEST_CASE(
    "traffic of a file is the file call's, on its communicator, also where a wait drives it") {
  LinkedProgram program;
  const CommIndex comm = program.comm("of the file", 1);
  const CallIndex write = program.call("MPI_File_write_all", comm, 10);
  const CallIndex begun = program.call("MPI_File_iwrite_at_all_c", comm, 20);
  program.call("MPI_Wait", kNone, 30);
  const UcpIndex own = program.builder.send(0, 1, tag_of(9, 7), 8, 12);
  const UcpIndex first = program.builder.send(0, 1, tag_of(-30, 7), 8, 22);
  const UcpIndex driven = program.builder.send(0, 1, tag_of(-31, 7), 8, 32);
  const UcpIndex of_nobody = program.builder.send(0, 1, tag_of(-31, 8), 8, 33);
  program.link();
  program.check(own, write, comm);
  program.check(first, begun, comm);
  program.check(driven, begun, comm);
  CHECK(program.builder.ucp(driven).mpi_link == Link::inferred);
  program.check(of_nobody, kNone, kNone);
}

TEST_CASE("large counts and exchanges that return before they are complete have kinds") {
  CHECK(call_traits("MPI_Isend_c").kind == CallKind::send);
  CHECK(call_traits("MPI_Isendrecv_replace_c").kind == CallKind::both);
  CHECK(call_traits("MPI_Bcast_init_c").kind == CallKind::init);
  CHECK(call_traits("MPI_Psend_init").kind == CallKind::init);
  CHECK(call_traits("MPI_Pready_list").kind == CallKind::start);
  CHECK(call_traits("MPI_Parrived").kind == CallKind::other);
  CHECK(call_traits("MPI_Comm_idup").kind == CallKind::nonblocking_collective);
  CHECK(call_traits("MPI_File_iread").kind == CallKind::nonblocking_file);
  CHECK(call_traits("MPI_Info_create").kind == CallKind::collective);
  CHECK(call_traits("main").kind == CallKind::other);
}

}  // namespace
}  // namespace uctrace::merge

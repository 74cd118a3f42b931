// MPI calls out of a log: handles mean what they meant at the time, and a call that did not return
// is known by what its lane shows.
#include <doctest/doctest.h>

#include "log-merger/job.hpp"
#include "tests/unit/log_builder.hpp"

namespace uctrace::merge {
namespace {

using namespace log;
using log::test::LogBuilder;
using log::test::mpi_call;
using log::test::peer_word;
using log::test::words_of;

constexpr std::uint64_t kComm = 0x100, kWindow = 0x200;
constexpr std::uint16_t kPut = 5, kRecv = 6;

struct Writer {
  Writer() {
    log.chunk(Stream::definitions, 0, 1);
    text(TextKind::mpi_function, kPut, 1, "MPI_Put");
    text(TextKind::mpi_function, kRecv, 1, "MPI_Recv");
  }

  void text(TextKind kind, std::uint64_t id, std::uint64_t tick, std::string_view value) {
    Text record{};
    record.head.a = static_cast<std::uint16_t>(kind);
    record.head.b = static_cast<std::uint32_t>(value.size());
    record.tick = tick;
    record.id = id;
    log.add(record, RecordType::text, words_of(value));
  }

  // World ranks in the opposite order: rank 0 of the communicator is rank 9 of the world.
  void comm(std::uint64_t tick, const char* name) {
    log::Communicator record{};
    record.head.b = 1;
    record.tick = tick;
    record.handle = kComm;
    record.size = 10;
    const auto down = static_cast<std::uint64_t>(static_cast<std::uint32_t>(-1));
    log.add(record, RecordType::communicator, {down << 32 | 9, 10});
    text(TextKind::communicator_name, kComm, tick, name);
  }

  void window(std::uint64_t tick) {
    log::Window record{};
    record.tick = tick;
    record.handle = kWindow;
    record.communicator = kComm;
    log.add(record, RecordType::window);
  }

  void events() { log.chunk(Stream::events, 0, 1); }

  void put(std::uint64_t tick, std::int32_t target) {
    log::MpiCall record = mpi_call(kPut, log::MpiCall::kPeer | log::MpiCall::kVolume);
    record.start_tick = tick;
    record.duration_ticks = 5;
    record.scope = kWindow;
    log.add(record, RecordType::mpi_window_call, {peer_word(target, log::MpiCall::kNone), 64, 0});
  }

  void receive(std::uint64_t tick, std::uint64_t ticks) {
    log::MpiCall record = mpi_call(kRecv);
    record.start_tick = tick;
    record.duration_ticks = ticks;
    log.add(record, RecordType::mpi_call);
  }

  // A send that was over when its call returned, whose times are those of a call from `tick` on.
  void send_with_call(std::uint64_t tick) {
    UcpOperation record{};
    record.head.a =
        static_cast<std::uint16_t>(static_cast<unsigned>(UcpFunction::tag_send_nbx) |
                                   (UcpOperation::kCallStart | UcpOperation::kCallEnd) << 8);
    record.id = ++last_id;
    record.start_tick = record.posted_tick = tick;
    log.add(record, RecordType::ucp_operation);
  }

  CurrentCall& current() {
    if (log.lanes.empty()) log.lanes.resize(1);
    return log.lanes[0].current_call;
  }

  Job job() {
    Job result;
    result.logs.emplace_back(log.read());
    load_process(result, 0);
    return result;
  }

  LogBuilder log;
  Id last_id = 0;
};

std::string comm_of(const Job& job, const MpiCall& call) {
  if (call.comm == kNone) return "none";
  return job.run.texts[job.logs[0].comms[static_cast<std::size_t>(call.comm)].name];
}

TEST_CASE("a call on a window has the communicator that the window was made from, at that time") {
  Writer writer;
  writer.comm(10, "first");
  writer.window(20);
  writer.comm(30, "second");  // the first was freed; its handle is used again
  writer.window(60);          // the window was freed; its handle is used again
  writer.events();
  for (const std::uint64_t tick : {15u, 25u, 40u, 70u}) writer.put(tick, 1);
  const Job job = writer.job();
  REQUIRE(job.calls.size() == 4);
  CHECK(comm_of(job, job.calls[0]) == "none");  // no such window yet
  CHECK(comm_of(job, job.calls[1]) == "first");
  CHECK(comm_of(job, job.calls[2]) == "first");
  CHECK(comm_of(job, job.calls[3]) == "second");
  CHECK(job.calls[3].peer == 1);
  CHECK(job.calls[3].bytes == 64);
}

TEST_CASE("the call that a lane shows is open, unless a record says that it is over") {
  for (const bool returned : {false, true}) {
    CAPTURE(returned);
    Writer writer;
    writer.comm(10, "first");
    writer.window(20);
    writer.events();
    writer.put(25, 1);
    if (returned) writer.put(50, 2);
    writer.current() = {{RecordType::mpi_call, 0, kRecv, 0}, 40, kComm, 3, 7};
    const Job job = writer.job();
    REQUIRE(job.calls.size() == 2);
    const MpiCall& last = job.calls[1];
    CHECK(last.open != returned);
    if (returned) continue;
    CHECK(job.run.texts[last.function] == "MPI_Recv");
    CHECK(comm_of(job, last) == "first");
    CHECK(last.peer == 3);
    CHECK(last.tag == 7);
    CHECK(last.end_ns == -1);
    CHECK(call_around(job, 0, 0, 1000000) == 1);
    CHECK(call_around(job, 0, 0, 29) == 0);
  }
}

TEST_CASE("what is no call in a lane is none") {
  Writer writer;
  writer.events();
  writer.put(25, 1);
  SUBCASE("unknown type") { writer.current().head.type = RecordType::fault; }
  SUBCASE("unknown function") { writer.current().head = {RecordType::mpi_call, 0, 99, 0}; }
  SUBCASE("none") { writer.current().head.type = RecordType::unpublished; }
  writer.current().start_tick = 100;
  CHECK(writer.job().calls.size() == 1);
}

TEST_CASE("an operation that shares the times of its call ends with it") {
  Writer writer;
  writer.events();
  writer.send_with_call(100);
  writer.receive(100, 40);
  writer.receive(200, 40);
  writer.send_with_call(210);  // in a call, but not begun with it: its record was lost
  writer.send_with_call(300);
  writer.current().head = {RecordType::mpi_call, 0, kRecv, 0};
  writer.current().start_tick = 300;  // which has not returned
  const Job job = writer.job();
  REQUIRE(job.ucp.size() == 3);
  CHECK(job.ucp[0].start_from == TimeFrom::mpi_call);
  CHECK(job.ucp[0].end_from == TimeFrom::mpi_call);
  CHECK(job.ucp[0].end_ns == job.calls[0].end_ns);
  CHECK(job.ucp[0].end_ns > job.ucp[0].start_ns);
  CHECK(job.ucp[1].end_ns == -1);
  CHECK(job.ucp[2].end_ns == -1);
}

TEST_CASE("what a receive's completion says goes before its call's end") {
  Writer writer;
  writer.events();
  UcpOperation posted{};
  posted.head.a =
      static_cast<std::uint16_t>(static_cast<unsigned>(UcpFunction::tag_recv_nbx) |
                                 (UcpOperation::kCallStart | UcpOperation::kCallEnd) << 8);
  posted.head.b = 1;
  posted.id = 1;
  posted.start_tick = posted.posted_tick = 100;
  writer.log.add(posted, RecordType::ucp_operation);
  writer.receive(100, 40);
  UcpCompletion completion{};
  completion.head.a = UcpCompletion::kArrivalTick;
  completion.operation = 1;
  completion.tick = 500;
  writer.log.add(completion, RecordType::ucp_completion);
  const Job job = writer.job();
  REQUIRE(job.ucp.size() == 1);
  CHECK(job.ucp[0].start_from == TimeFrom::mpi_call);
  CHECK(job.ucp[0].end_from == TimeFrom::arrival);
  CHECK(job.ucp[0].end_ns == job.logs[0].clock.job_ns(500));
}

}  // namespace
}  // namespace uctrace::merge

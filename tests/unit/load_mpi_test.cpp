// MPI calls out of a log: handles have their meaning at that time, and a call that did not return
// is recognized from its lane.
#include <doctest/doctest.h>

#include "log-merger/job/job.hpp"
#include "tests/unit/log_builder.hpp"

namespace uctrace::merge {
namespace {

using namespace log;
using log::test::LogBuilder;
using log::test::mpi_call;
using log::test::peer_word;
using log::test::words_of;

constexpr std::uint64_t kComm = 0x100, kWindow = 0x200, kDatatype = 0x300;
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

  void datatype(std::uint64_t tick, Combiner combiner, std::uint64_t size) {
    log::Datatype record{};
    record.head.a =
        static_cast<std::uint16_t>(static_cast<unsigned>(combiner) | log::Datatype::kContiguous);
    record.tick = tick;
    record.handle = kDatatype;
    record.size = size;
    record.extent = static_cast<std::int64_t>(size);
    log.add(record, RecordType::datatype);
  }

  void end(RecordType type, std::uint64_t handle, std::uint64_t tick) {
    HandleEnd record{};
    record.tick = tick;
    record.handle = handle;
    log.add(record, type);
  }

  void module(std::uint64_t tick, std::string_view path) {
    log::Module record{};
    record.tick = tick;
    record.begin = record.bias = 0x1000;
    record.end = 0x2000;
    record.head.b = static_cast<std::uint32_t>(path.size());
    log.add(record, RecordType::module, words_of(path));
  }

  // A receive of one element, from the code at `caller`.
  void receive_from(std::uint64_t tick, std::uint64_t caller) {
    log::MpiCall record = mpi_call(kRecv, log::MpiCall::kVolume | log::MpiCall::kCaller);
    record.start_tick = tick;
    record.duration_ticks = 1;
    log.add(record, RecordType::mpi_call, {8, kDatatype, caller});
  }

  void file_call(std::uint64_t tick) {
    log::MpiCall record = mpi_call(kRecv);
    record.start_tick = tick;
    record.scope = kWindow;
    log.add(record, RecordType::mpi_file_call);
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
    load_processes(result);
    return result;
  }

  LogBuilder log;
  Id last_id = 0;
};

std::string comm_of(const Job& job, const MpiCall& call) {
  if (call.comm == kNone) return "none";
  return job.run.texts[job.logs[0].comms[call.comm].name];
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

TEST_CASE(
    "a call on a file has the communicator that it was opened on, whatever window has its handle") {
  Writer writer;
  writer.comm(10, "first");
  log::File file{};
  file.tick = 20;
  file.handle = kWindow;
  file.communicator = kComm;
  writer.log.add(file, RecordType::file);
  writer.comm(30, "second");
  writer.window(35);
  writer.events();
  writer.file_call(40);
  writer.put(50, 1);
  const Job job = writer.job();
  REQUIRE(job.calls.size() == 2);
  CHECK(comm_of(job, job.calls[0]) == "first");
  CHECK(comm_of(job, job.calls[1]) == "second");
}

// The combiner of what each call received.
std::vector<std::string> combiners(const Job& job) {
  std::vector<std::string> found;
  for (const MpiCall& call : job.calls) {
    found.push_back(call.datatype == kNone
                        ? "none"
                        : job.run.texts[job.run.datatypes[call.datatype.place()].combiner]);
  }
  return found;
}

TEST_CASE("the handle of a datatype means what it meant at the time") {
  Writer writer;
  writer.datatype(20, Combiner::vector, 8);
  writer.end(RecordType::datatype_free, kDatatype, 40);
  writer.datatype(60, Combiner::structure, 8);
  writer.events();
  // At 50 another thread is in a call whose start is before that of the call that defined it.
  for (const std::uint64_t tick : {10u, 20u, 39u, 50u, 60u, 90u}) writer.receive_from(tick, 0);
  const Job job = writer.job();
  CHECK(combiners(job) ==
        std::vector<std::string>{"vector", "vector", "vector", "struct", "struct", "struct"});
  CHECK(job.run.datatypes.size() == 2);
  CHECK(job.run.datatypes[0].contiguous);
}

TEST_CASE("datatypes of which all is the same are one row") {
  Writer writer;
  for (const std::uint64_t tick : {10u, 20u, 30u}) {
    writer.datatype(tick, Combiner::vector, tick == 20 ? 16 : 8);
    writer.end(RecordType::datatype_free, kDatatype, tick + 5);
  }
  writer.events();
  for (const std::uint64_t tick : {10u, 20u, 30u}) writer.receive_from(tick, 0);
  const Job job = writer.job();
  CHECK(job.run.datatypes.size() == 2);
  CHECK(job.calls[0].datatype == job.calls[2].datatype);
  CHECK(job.calls[0].datatype != job.calls[1].datatype);
}

TEST_CASE("a caller is a stack of one frame, of the module that was there when it called") {
  Writer writer;
  writer.module(5, "/one.so");
  writer.module(25, "/other.so");  // in its place
  writer.events();
  for (const std::uint64_t tick : {10u, 20u, 30u, 40u}) writer.receive_from(tick, 0x1500);
  writer.receive_from(50, 0x1600);
  Job job = writer.job();
  REQUIRE(job.calls.size() == 5);
  CHECK(job.logs[0].stacks.size() == 3);
  CHECK(job.calls[0].stack == job.calls[1].stack);
  CHECK(job.calls[2].stack == job.calls[3].stack);
  resolve_stacks(job);
  const auto module_of = [&](std::size_t call) {
    const StackIndex row = job.logs[0].stack_rows.at(job.calls[call].stack);
    const CallStack& stack = job.run.stacks[row.place()];
    CHECK(stack.truncated);
    return job.run.texts[job.run.frames[job.run.stack_frames[stack.first_frame].frame].module];
  };
  CHECK(module_of(0) == "/one.so");
  CHECK(module_of(2) == "/other.so");
  CHECK(module_of(4) == "/other.so");
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
    writer.current() = {0, 0, {RecordType::mpi_call, 0, kRecv, 0}, 40, kComm, 3, 7};
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
    CHECK(call_around(job, ProcessIndex(0), 0, 1000000) == CallIndex(1));
    CHECK(call_around(job, ProcessIndex(0), 0, 29) == CallIndex(0));
  }
}

TEST_CASE("an open call has its caller, as one that returned, and the request that it was given") {
  Writer writer;
  writer.module(5, "/one.so");
  writer.module(25, "/other.so");  // in its place
  writer.events();
  writer.receive_from(30, 0x1500);
  writer.current() = {0x1500, 77, {RecordType::mpi_call, 0, kRecv, 0}, 60, kComm, 3, 7};
  const Job job = writer.job();
  REQUIRE(job.calls.size() == 2);
  CHECK(job.calls[1].open);
  CHECK(job.calls[1].request == 77);
  CHECK(job.calls[1].stack != 0);
  CHECK(job.calls[1].stack == job.calls[0].stack);
}

TEST_CASE("a call that is shown without a start began when all that the log has was over") {
  Writer writer;
  writer.comm(10, "first");
  writer.events();
  writer.put(25, 1);
  writer.current() = {0x1500, 0, {RecordType::mpi_call, 0, kRecv, 0}, 0, kComm, 3, 7};
  const Job job = writer.job();
  REQUIRE(job.calls.size() == 2);
  CHECK(job.calls[1].open);
  CHECK(job.calls[1].start_tick >= job.calls[0].end_tick);
  CHECK(comm_of(job, job.calls[1]) == "first");
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

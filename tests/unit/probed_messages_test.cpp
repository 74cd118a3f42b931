// Which message a probe found, and which rank it waited for.
#include <doctest/doctest.h>

#include <vector>

#include "tests/unit/waiting_program.hpp"

namespace uctrace::merge {

using test::Program;

namespace {

struct Called {
  const char* function;
  std::int32_t peer = log::MpiCall::kNone, tag = log::MpiCall::kNone;
  CommIndex comm = Program::kWorld;
  std::size_t lane = 0;
};
constexpr CommIndex kOther{1};

// Rank 0 probes for a message of rank 1 with tag 5, makes some other calls and receives it.
struct Probing {
  explicit Probing(const std::vector<Called>& between, Called by = {"MPI_Probe", 1, 5}) {
    Comm other;
    other.instance = InstanceIndex(0);
    program.builder.log(0).comms.push_back(other);
    program.builder.log(0).calls_of_lane.resize(2);
    probe = call(by, 300);
    for (const Called& one : between) call(one, 0);
    const auto receive = call({"MPI_Recv", 1, 5}, 0);
    program.now_of(1) = 200;
    send = program.enter(1, "MPI_Send");
    program.sent.push_back({send.call, receive.call, send.start_ns, receive.end_ns});
    program.find();
  }

  Program::Entered call(const Called& called, std::int64_t end_ns) {
    const auto entered = program.enter(0, called.function, end_ns);
    MpiCall& row = program.job().calls[entered.call];
    row.peer = row.recv_peer = called.peer;
    row.tag = row.recv_tag = called.tag;
    row.comm = called.comm;
    if (called.lane != 0) {
      auto& lanes = program.builder.log(0).calls_of_lane;
      lanes[called.lane].push_back(lanes[0].back());
      lanes[0].pop_back();
    }
    return entered;
  }

  Program program{2, 1};
  Program::Entered probe, send;
};

}  // namespace

TEST_CASE("a probe waits for the sender of the message that the next receive of its kind takes") {
  constexpr std::int32_t kAny = log::MpiCall::kAny;
  const std::vector<Called> harmless[] = {
      {},
      {{"MPI_Recv", 1, 6}, {"MPI_Irecv", 0, 5}, {"MPI_Irecv", 0, kAny}, {"MPI_Send", 1, 5}},
      {{"MPI_Probe", 1, 5}},
      {{"MPI_Recv", 1, 5, kOther}, {"MPI_Recv", kAny, kAny, kOther}},
      {{"MPI_Sendrecv", 1, 6}, {"MPI_Improbe", 0, 5}}};
  for (const std::vector<Called>& between : harmless) {
    Probing probing(between);
    CAPTURE(between.size());
    const Program& program = probing.program;
    CHECK(program.waits.at({WaitKind::late_sender, 0, 1}) ==
          probing.send.start_ns - probing.probe.start_ns);
    CHECK(!program.unknown.contains({WaitKind::late_sender, WaitUnknown::request, 0}));
  }
}

TEST_CASE("what a probe found is not known where another receive may have taken it") {
  constexpr std::int32_t kAny = log::MpiCall::kAny;
  for (const Called& one :
       {Called{"MPI_Recv", kAny, 5}, Called{"MPI_Irecv", 1, kAny}, Called{"MPI_Mprobe", 1, 5},
        Called{"MPI_Sendrecv", kAny, kAny}, Called{"MPI_Startall"},
        Called{"MPI_Get_count", 1, 5, Program::kWorld, 1}}) {
    Probing probing({one});
    CAPTURE(one.function);
    CHECK(probing.program.unknown.contains({WaitKind::late_sender, WaitUnknown::request, 0}));
  }
  for (const Called& by : {Called{"MPI_Probe", kAny, 5}, Called{"MPI_Probe", 1, kAny}}) {
    CHECK(
        Probing({}, by).program.unknown.contains({WaitKind::late_sender, WaitUnknown::request, 0}));
  }
}

TEST_CASE("what a probe found is not known where calls were not recorded") {
  for (const bool dropped : {false, true}) {
    Program program(2, 1);
    const auto on_rank_0 = [&](const char* function, std::int64_t end_ns) {
      const auto entered = program.enter(0, function, end_ns);
      program.job().calls[entered.call].peer = 1;
      program.job().calls[entered.call].tag = 5;
      return entered;
    };
    on_rank_0("MPI_Probe", 300);
    const auto receive = on_rank_0("MPI_Recv", 0);
    // Or the message that it takes was sent after the probe had found one.
    program.now_of(1) = dropped ? 200 : 400;
    const auto send = program.enter(1, "MPI_Send");
    program.sent.push_back({send.call, receive.call, send.start_ns, receive.end_ns});
    if (dropped) program.builder.log(0).recorded.gaps.push_back({});
    program.find();
    CAPTURE(dropped);
    CHECK(program.unknown.contains({WaitKind::late_sender, WaitUnknown::request, 0}));
  }
}

TEST_CASE("the receive of a message that MPI_Mprobe found is the one that is given its handle") {
  Program program(2, 1);
  std::vector<Program::Entered> probes;
  const auto with_handle = [&](const char* function, std::uint64_t handle, std::int64_t end_ns) {
    const auto entered = program.enter(0, function, end_ns);
    MpiCall& row = program.job().calls[entered.call];
    row.request = handle;
    row.peer = row.tag = log::MpiCall::kAny;
    return entered;
  };
  const std::int64_t sent_ns[] = {300, 600};
  for (const std::size_t which : {0, 1}) {
    probes.push_back(with_handle("MPI_Mprobe", 0x91 + which, sent_ns[which] + 100));
  }
  // In the other order.
  for (const std::size_t which : {1, 0}) {
    const auto receive = with_handle("MPI_Mrecv", 0x91 + which, 0);
    program.now_of(1) = sent_ns[which];
    const auto send = program.enter(1, "MPI_Send");
    program.sent.push_back({send.call, receive.call, send.start_ns, receive.end_ns});
    program.expect(WaitKind::late_sender, 0, 1, probes[which], send.start_ns);
  }
  program.find();
  CHECK(program.waits == program.expected);
  CHECK(program.unknown.empty());
}

}  // namespace uctrace::merge

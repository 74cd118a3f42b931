// The full receipt of a message, word by word: the text for a user who asks what happened to it.
#include <doctest/doctest.h>

#include <sstream>

#include "tests/unit/message_at.hpp"
#include "tests/unit/sample_runs.hpp"

namespace uctrace {
namespace {

std::string told(const Run& run) { return full_receipt(run, Labels(run), message_at(run, 0)); }

// The rendezvous of small_run() with all its times.
Run timed_run() {
  Run run = small_run();
  Message& message = run.messages[0];
  message.t_error_ns = 310;
  message.t_posted_recv_ns = 21'000;
  message.mpi_recv = run.texts.intern("MPI_Recv");
  message.src_memory = message.dst_memory = MemoryKind::host;
  run.hops[0].t_first_ns = 1200;
  run.hops[0].t_last_ns = 1300;
  run.hops[1].t_first_ns = 23'000;
  run.hops[1].t_last_ns = 83'000;
  return run;
}

// A message in pieces over two NICs, of which one is tied by content.
Run two_lanes() {
  Run run = timed_run();
  Message& message = run.messages[0];
  message.t_error_ns = -1;
  message.protocol = run.texts.intern("egr/multi/zcopy");
  message.protocol_from = ProtocolFrom::ucx;
  message.match = Match::ambiguous;
  message.t_posted_recv_ns = 400;
  for (Hop& hop : run.hops) {
    hop.role = Role::data;
    hop.issued_by = Side::src;
    hop.op = run.texts.intern("am_zcopy");
    hop.transport = run.texts.intern("rc_mlx5");
    hop.device = run.texts.intern("mlx5_0:1");
    hop.remote_device = run.texts.intern("mlx5_1:1");
    hop.count = 3;
    hop.payload_bytes = 32768;
    hop.wire_bytes = 32768 + 24;
  }
  run.hops[1].device = run.hops[1].remote_device;
  run.hops[1].exact = false;
  return run;
}

}  // namespace

TEST_SUITE("receipt") {
  TEST_CASE("a speed beyond all numbers, as a damaged store may have it") {
    Run run = timed_run();
    run.hops[1].payload_bytes = UINT64_MAX;
    run.hops[1].t_last_ns = run.hops[1].t_first_ns + 1;
    CHECK(told(run).find("in 1 ns (8388608.0 TiB/s)") != std::string::npos);
  }

  TEST_CASE("a rendezvous that waited for its receive") {
    CHECK(
        told(timed_run()) ==
        "Message #0: 65536 B (64.0 KiB) from rank 0 to rank 1\n"
        "  Asked by   MPI_Isend of rank 0 (pid 100 on even) on MPI_COMM_WORLD with tag 7; "
        "MPI_Recv of rank 1 (pid 101 on odd) received it.\n"
        "  Outcome    UCS_OK after 83.1 us +- 310 ns.\n"
        "  Protocol   A rendezvous: rank 0 announced the message, rank 1 fetched the data. In "
        "UCX's words: rndv/get, derived from the path.\n"
        "  Pipelined  No: the data moved in 1 piece.\n"
        "  Transport  cma/memory carried all of it: 1 x get_zcopy by rank 1, straight into its "
        "memory, in 60.0 us (1.0 GiB/s).\n"
        "  Memory     From host to host memory.\n"
        "  Waiting    For its receive, which was posted 20.0 us +- 310 ns after the send. The data "
        "began to move 2.0 us after both were there. The end came 1.1 us after the last of it.\n"
        "  Certainty  The pair of send and receive is certain. Its transfers are known by ids.\n"
        "  Timeline   From 1.0 us of the run on:\n"
        "                     0  rank 0 called UCP\n"
        "               +200 ns  rank 0: 1 x am_bcopy over posix/memory, control, 54 B, for "
        "100 ns\n"
        "              +20.0 us  rank 1 posted the receive\n"
        "              +22.0 us  rank 1: 1 x get_zcopy over cma/memory, 65536 B (64.0 KiB), for "
        "60.0 us\n"
        "              +83.1 us  complete\n");
  }

  TEST_CASE("pieces over two network interfaces between hosts, not all of it certain") {
    const std::string text = told(two_lanes());
    for (const char* line :
         {"  Protocol   Eager: rank 0 sent it at once, without asking rank 1. In UCX's words: "
          "egr/multi/zcopy.\n",
          "  Pipelined  Yes: the data moved in 6 pieces.\n",
          "  Transport  rc_mlx5/mlx5_0:1 to mlx5_1:1 carried 32768 B (32.0 KiB): 3 x am_zcopy by "
          "rank 0, straight from its memory, with 24 B of headers, in 100 ns (305.2 GiB/s). "
          "rc_mlx5/mlx5_1:1 carried 32768 B (32.0 KiB): 3 x am_zcopy by rank 0, straight from its "
          "memory, with 24 B of headers, in 60.0 us (520.8 MiB/s).\n",
          "  Waiting    Whether for its receive is not known: the clocks let open which was posted "
          "first. The data began to move 200 ns after both were there.",
          "  Certainty  The pair of send and receive is a guess: several fit. Known by content, "
          "not by an id: 3 of its 6 transfers. Times of one side against the other's are as good "
          "as the wall clocks of their hosts.\n"}) {
      CHECK_MESSAGE(text.find(line) != std::string::npos, text);
    }
  }

  TEST_CASE("a guess names the log that lacks what would tell") {
    Run run = two_lanes();
    const auto check = [&](const char* full, const char* short_text) {
      const std::string text = told(run);
      CHECK_MESSAGE(text.find(full) != std::string::npos, text);
      const std::string listed = receipt(run, Labels(run), message_at(run, 0));
      CHECK_MESSAGE(listed.find(short_text) != std::string::npos, listed);
    };
    run.processes[1].complete = false;
    check(
        "several fit, and records that would tell may be missing: the log of rank 1 is incomplete.",
        "the pairing is a guess; the log of rank 1 is incomplete\n");
    run.processes[1].complete = true;
    Process other = run.processes[0];
    other.complete = false;
    run.processes.push_back(other);
    check("may be missing: 1 log is incomplete.", "the pairing is a guess; 1 log is incomplete\n");
  }

  TEST_CASE("between hosts whose clocks were measured, times of both sides have an error") {
    Run run = two_lanes();
    run.messages[0].t_error_ns = 310;
    const std::string text = told(run);
    CHECK_MESSAGE(text.find(" +- 310 ns.\n") != std::string::npos, text);
    CHECK_MESSAGE(text.find("wall clocks") == std::string::npos, text);
    CHECK_MESSAGE(text.find("Not for its receive, which was posted 600 ns +- 310 ns before the "
                            "send.") != std::string::npos,
                  text);
    CHECK(receipt(run, Labels(run), message_at(run, 0)).find(" +- 310 ns\n") != std::string::npos);
    run.messages[0].t_error_ns = 700;
    CHECK(told(run).find("Whether for its receive is not known") != std::string::npos);
    run.processes[1].host = run.processes[0].host;
    CHECK(told(run).find(" +- ") == std::string::npos);
  }

  TEST_CASE("who did the work of a one-sided operation") {
    Run run = timed_run();
    Message& message = run.messages[0];
    message.kind = MessageKind::get;
    message.initiator = Side::dst;
    message.mpi = run.texts.intern("MPI_Get");
    message.has_tag = false;
    message.mpi_recv = kNoText;
    message.protocol = run.texts.intern("get/offload/zcopy");
    const std::string text = told(run);
    for (const char* line :
         {"  Asked by   MPI_Get of rank 1 (pid 101 on odd) on MPI_COMM_WORLD, as a get, on memory "
          "of rank 0 (pid 100 on even).\n",
          "  Protocol   By the transport itself, without the CPU of rank 0. In UCX's words: ",
          "  Waiting    The data began to move 22.0 us after the call. The end came ",
          "  Certainty  Its target is certain. "}) {
      CHECK_MESSAGE(text.find(line) != std::string::npos, text);
    }
    CHECK(text.find("posted the receive") == std::string::npos);
    run.hops[1].op = run.texts.intern("am_bcopy");
    run.hops[1].issued_by = Side::src;
    CHECK(told(run).find("the CPU of rank 0 did what the transport cannot do by itself") !=
          std::string::npos);
  }

  TEST_CASE("an active message has a handler in place of a receive") {
    Run run = timed_run();
    run.messages[0].kind = MessageKind::am;
    run.messages[0].t_end_ns = 83'000;
    const std::string text = told(run);
    CHECK_MESSAGE(text.find("  Waiting    For rank 1 to call the handler, 20.0 us after the send. "
                            "The data began to move 22.0 us after the call. The end came with the "
                            "last of it.\n") != std::string::npos,
                  text);
    CHECK(text.find("rank 1 called the handler\n") != std::string::npos);
    CHECK(text.find(", as an active message; ") != std::string::npos);
  }

  TEST_CASE("nothing is said of what is not known") {
    Run run;
    run.info_json = "{}";
    run.messages.emplace_back();
    CHECK(told(run) ==
          "Message #0: 0 B from unknown to unknown\n"
          "  Asked by   an unknown call of unknown; unknown received it.\n"
          "  Outcome    Not known; its end is not known.\n"
          "  Protocol   Not known.\n"
          "  Transport  Not recorded.\n"
          "  Memory     From unknown to unknown memory.\n"
          "  Certainty  Its send is not in the logs.\n");
  }

  TEST_CASE("any run can be told in full") {
    const Run run = random_run(3);
    const Labels labels(run);
    for (MessageId id = 0; id < run.messages.size(); ++id) {
      const std::string text = full_receipt(run, labels, message_at(run, id));
      CHECK(text.starts_with("Message #" + std::to_string(id) + ": "));
      CHECK(text.ends_with("\n"));
    }
    std::ostringstream out;
    write_messages(out, run, Filter(run, {}),
                   {.detail = Detail::full, .ids = std::vector<MessageId>{5, 9}});
    CHECK(out.str().find("\n\nMessage #9: ") != std::string::npos);
    CHECK(out.str().ends_with("# 2 of 200 messages\n"));
  }
}

}  // namespace uctrace

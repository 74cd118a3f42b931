// What is concluded of an unfinished job from what its threads wait for.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/unit/hang_job.hpp"

namespace uctrace::merge {
namespace {

using test::cycle;
using test::ends_earlier;
using test::Hung;
using test::Json;
using test::kExact;

TEST_CASE("two receives wait for each other, unless a message is on its way, or they began now") {
  for (const bool sent : {false, true}) {
    for (const std::int64_t start_ns : {std::int64_t{500}, std::int64_t{900'000'000}}) {
      CAPTURE(sent);
      CAPTURE(start_ns);
      Hung hung(3);
      if (sent) hung.send(1, 0, 7, 100);
      hung.receive(0, 1, 7, 500);
      hung.receive(1, 0, 7, start_ns);
      const Json hang = hung.hang();
      const bool settled = start_ns == 500;
      CHECK(hang["state"] == "killed");
      CHECK((hang["verdict"] == "deadlock") == (settled && !sent));
      CHECK(cycle(hang) == (settled && !sent ? std::vector<int>{0, 1} : std::vector<int>{}));
      CHECK(hang["ranks"][1]["settled"] == settled);
      CHECK(hang["ranks"][0]["on_its_way"].is_null() != sent);
    }
  }
}

TEST_CASE("who waits for a rank that ended is stuck without a cycle") {
  Hung hung(2, "running");
  hung.job().run.processes[1].exit = hung.texts().intern("exited");
  hung.receive(0, 1, 7, 500);
  const Json hang = hung.hang();
  CHECK(hang["state"] == "running");
  CHECK(hang["verdict"] == "waits for a rank that is gone");
  CHECK(hang["cycle"].empty());
  REQUIRE(hang["blocked_on"].size() == 1);
  CHECK(hang["blocked_on"][0]["text"] == "rank 1, which has exited");
}

TEST_CASE("one of several that is stuck, of which one is enough, is no deadlock") {
  Hung hung(3, "running");
  hung.exits(1, "exited");
  for (const int from : {1, 2}) {
    const CallIndex made = hung.call(0, "MPI_Irecv", false, 100 + from);
    hung.job().calls[made].request = static_cast<std::uint64_t>(0x90 + from);
    hung.job().calls[made].peer = from;
    hung.job().calls[made].tag = 7;
    const UcpIndex op =
        hung.builder.open_receive(0, Hung::tag_of(from, 7, Hung::kWorld), kExact, 110);
    hung.builder.ucp(op).asked_by = made;
    hung.builder.ucp(op).comm = Hung::kWorld;
  }
  const CallIndex wait = hung.call(0, "MPI_Waitany", true, 500);
  hung.builder.log(0).call_requests[wait].handles = {0x91, 0x92};
  hung.call(2, "MPI_Barrier", false, 400);
  CHECK(hung.hang()["verdict"] == "waiting");
  hung.exits(2, "exited");
  CHECK(hung.hang()["verdict"] == "waits for a rank that is gone");
}

TEST_CASE("a thread that is stuck is none of its process's as long as another one acts") {
  for (const bool other_computes : {true, false}) {
    Hung hung(2, "running");
    hung.exits(1, "exited");
    hung.builder.log(0).calls_of_lane.resize(2);
    hung.receive(0, 1, 7, 500);
    const CallIndex other = hung.call(0, "MPI_Barrier", !other_computes, 400, Hung::kWorld, 1);
    CHECK(hung.job().calls[other].open == !other_computes);
    const Json hang = hung.hang();
    CHECK(hang["ranks"].size() == 3);  // two threads of rank 0
    CHECK(hang["verdict"] == (other_computes ? "waiting" : "waits for a rank that is gone"));
  }
}

TEST_CASE("where several threads may call MPI no wait is sure, and one may send to another") {
  for (const log::ThreadLevel level :
       {log::ThreadLevel::serialized, log::ThreadLevel::multiple, log::ThreadLevel::unknown}) {
    Hung hung(2, "killed", [&](int, log::ProcessPage& page) { page.thread_level = level; });
    hung.receive(0, 1, 7, 500);
    hung.receive(1, 0, 7, 500);
    const bool sure = level == log::ThreadLevel::serialized;
    CHECK(hung.hang()["verdict"] == (sure ? "deadlock" : "possible deadlock"));
  }
  Hung alone(1, "running");
  alone.builder.log(0).calls_of_lane.resize(2);
  const CallIndex call = alone.call(0, "MPI_Recv", true, 500);
  alone.job().calls[call].peer = log::MpiCall::kAny;
  alone.job().calls[call].tag = 7;
  const UcpIndex op = alone.builder.open_receive(0, Hung::tag_of(0, 7, Hung::kWorld),
                                                 ~(std::uint64_t{0xfffff} << 20), 500);
  alone.builder.ucp(op).asked_by = call;
  alone.call(0, "MPI_Barrier", false, 400, Hung::kWorld, 1);
  CHECK(alone.hang()["verdict"] == "waiting");
  CHECK(alone.hang()["ranks"][0]["waits_for"][0]["ranks"] == Json{0});
}

TEST_CASE("a log that says nothing new is left out, and its rank is who the others wait for") {
  Hung hung(3, "running", ends_earlier(2, 20));
  const std::int64_t late = 10'000'000'000;  // after the newest instant of rank 2
  hung.receive(0, 1, 7, late);
  hung.receive(1, 2, 7, late);
  hung.call(2, "MPI_Barrier", false, 400);
  const Json hang = hung.hang();
  CHECK(hang["verdict"] == "waiting");
  CHECK(hang["ranks"][0]["settled"] == true);
  CHECK(hang["ranks"][2]["silent"] == true);
  REQUIRE(hang["blocked_on"].size() == 1);
  CHECK(hang["blocked_on"][0]["rank"] == 2);
  CHECK(hang["blocked_on"][0]["silent"] == true);
  CHECK(hang["blocked_on"][0]["text"].get<std::string>().find("nothing new in the log") !=
        std::string::npos);
}

TEST_CASE("who was killed is gone only if the others outlived it") {
  for (const char* others : {"unseen", "running", "killed"}) {
    for (const int seconds : {0, 20}) {
      CAPTURE(others);
      CAPTURE(seconds);
      Hung hung(3, others, ends_earlier(1, static_cast<std::uint64_t>(seconds)));
      hung.exits(1, "killed");
      hung.receive(0, 1, 7, 500);
      hung.call(1, "MPI_Barrier", false, 400);
      const Json hang = hung.hang();
      CHECK(hang["verdict"] == (seconds > 0 ? "waits for a rank that is gone" : "waiting"));
      CHECK(hang["ranks"][1]["gone"] == (seconds > 0));
    }
  }
}

TEST_CASE("who aborts the job acted until then") {
  Hung hung(3, "killed", ends_earlier(1, 20));
  hung.exits(1, "aborted");
  hung.receive(0, 1, 7, 500);
  hung.receive(2, 1, 7, 500);
  hung.call(1, "MPI_Abort", true, 400);
  const Json hang = hung.hang();
  CHECK(hang["state"] == "aborted");
  CHECK(hang["verdict"] == "waiting");
  REQUIRE(hang["blocked_on"].size() == 1);
  CHECK(hang["blocked_on"][0]["rank"] == 1);
}

TEST_CASE("a rank outside of what is recorded is not said to sit anywhere since") {
  Hung hung(2);
  hung.receive(0, 1, 7, 500);
  hung.call(1, "MPI_Barrier", false, 400);
  hung.builder.log(1).recorded.gaps.push_back({});
  const Json hang = hung.hang();
  CHECK(hang["ranks"][1]["since_ns"].is_null());
  CHECK(hang["ranks"][1]["last_call"].is_null());
  REQUIRE(hang["blocked_on"].size() == 1);
  CHECK(hang["blocked_on"][0]["text"].get<std::string>().find("recorded") != std::string::npos);
}

TEST_CASE("a rank in no call is who the others wait for, and no deadlock") {
  Hung hung(4);
  hung.receive(0, 1, 7, 500);
  hung.receive(1, 2, 7, 500);
  hung.receive(2, 3, 7, 500);
  hung.call(3, "MPI_Barrier", false, 400);
  const Json hang = hung.hang();
  CHECK(hang["verdict"] == "waiting");
  REQUIRE(hang["blocked_on"].size() == 1);
  CHECK(hang["blocked_on"][0]["rank"] == 3);
  CHECK(hang["blocked_on"][0]["ranks"] == Json{0, 1, 2});
  CHECK(
      hang["summary"][0] ==
      "all others wait for rank 3, which was in no MPI call since 401 ns of the job; the last one "
      "was MPI_Barrier");
}

TEST_CASE("a rank that tests again and again waits for what it tests, which is not sure") {
  for (const int tests : {3, 30}) {
    Hung hung(2);
    const CallIndex made = hung.call(0, "MPI_Irecv", false, 100);
    hung.job().calls[made].peer = 1;
    hung.job().calls[made].tag = 7;
    hung.job().calls[made].request = 0x99;
    const UcpIndex op = hung.builder.open_receive(0, Hung::tag_of(1, 7, Hung::kWorld), kExact, 100);
    hung.builder.ucp(op).asked_by = made;
    hung.builder.ucp(op).comm = Hung::kWorld;
    for (int i = 0; i < tests; ++i) {
      hung.job().calls[hung.call(0, "MPI_Test", false, 200 + i * 10)].request = 0x99;
    }
    hung.receive(1, 0, 8, 500);
    const Json hang = hung.hang();
    CHECK(hang["ranks"][0]["polls"] == (tests == 30 ? 30 : 0));
    CHECK(hang["verdict"] == (tests == 30 ? "possible deadlock" : "waiting"));
  }
}

}  // namespace
}  // namespace uctrace::merge

// The places of ranks in notes of a run: worded as in `uctrace hang`.
#include "log-merger/hang/open_call_notes.hpp"

#include <doctest/doctest.h>

#include <regex>
#include <string>

#include "log-merger/hang/seat_words.hpp"
#include "tests/unit/hang_job.hpp"

namespace uctrace::merge {
namespace {

using test::ends_earlier;
using test::Hung;
using test::JobBuilder;
using test::Json;

std::string notes_of(Hung& hung) {
  note_open_calls(hung.job());
  std::string all;
  for (const std::string& note : hung.job().run.notes) all += note + "\n";
  return all;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Hang has them in a column.
std::string without_durations(const std::string& notes) {
  return std::regex_replace(notes, std::regex(", for (up to )?[0-9.]+ [mun]?s"), "");
}

// The text of `hang` about an awaited rank, "rank 3, which SEAT", appears in a note as "rank 3
// SEAT".
void check_same_words(Hung& hung, const char* mark) {
  const Json hang = hung.hang();
  REQUIRE_FALSE(hang["blocked_on"].empty());
  const std::string notes = without_durations(notes_of(hung));
  for (const Json& end : hang["blocked_on"]) {
    std::string text = end["text"].get<std::string>();
    const std::string which = ", which ";
    text.replace(text.find(which), which.size(), mark);
    CHECK_MESSAGE(has("\n" + notes, "\n" + text), text << " in " << notes);
  }
}

// Rank 3 computes.
struct AllWaitForLast : Hung {
  explicit AllWaitForLast(const char* exit, const JobBuilder::ChangePage& change = {})
      : Hung(4, exit, change) {
    for (int rank = 0; rank < 4; ++rank) call(rank, "MPI_Barrier", false, 100 + rank);
    for (int rank = 0; rank < 3; ++rank) call(rank, "MPI_Barrier", true, 200 + rank);
  }
};

TEST_CASE("notes of open calls have the words of hang") {
  SUBCASE("a rank that computes") {
    AllWaitForLast hung("running");
    check_same_words(hung, " ");
  }
  SUBCASE("a job that was killed") {
    AllWaitForLast hung("killed");
    check_same_words(hung, " (killed) ");
  }
  SUBCASE("a rank in a call of which it is not known what it waits for") {
    AllWaitForLast hung("running");
    const CallIndex call = hung.call(3, "MPI_Win_start", true, 250);
    hung.job().calls[call].peer = 2;
    check_same_words(hung, " ");
  }
  SUBCASE("a rank that says nothing any more") {
    AllWaitForLast hung("running", ends_earlier(3, 3));
    check_same_words(hung, " ");
  }
  SUBCASE("a rank that is gone") {
    AllWaitForLast hung("running");
    hung.call(3, "MPI_Recv", true, 300);
    hung.exits(3, "exited");
    check_same_words(hung, " ");
    CHECK(has(notes_of(hung), "rank 3 has exited, in MPI_Recv on MPI_COMM_WORLD"));
  }
}

TEST_CASE("ranks in one place share a note; a rank in no call says which was its last one") {
  Hung hung(20, "running");
  for (int i = 0; i < 18; ++i) hung.call(i, "MPI_Barrier", true, 100 + i);
  const CallIndex receive = hung.call(18, "MPI_Recv", true, 200);
  hung.job().calls[receive].peer = log::MpiCall::kAny;
  hung.job().calls[receive].tag = 5;
  hung.call(19, "MPI_Send", false, 50);
  const std::string notes = notes_of(hung);
  CHECK(has(notes, "ranks 0-17 are in MPI_Barrier on MPI_COMM_WORLD since 100 ns of the job"));
  CHECK(has(notes, "rank 18 is in MPI_Recv on MPI_COMM_WORLD, any peer, tag 5 since 200 ns"));
  CHECK(has(
      notes,
      "rank 19 is in no MPI call since 51 ns of the job, for 1.0 ms; the last one was MPI_Send"));
}

TEST_CASE("a process that died was where it was; one that ended well is nowhere") {
  Hung killed(4, "killed"), finalized(4, "finalized"), computing(5, "killed"), idle(2, "killed");
  killed.call(3, "MPI_Recv", true, 100);
  finalized.call(3, "MPI_Recv", false, 100);
  CHECK(has(notes_of(killed), "rank 3 (killed) was in MPI_Recv on MPI_COMM_WORLD since"));
  CHECK(notes_of(finalized).empty());
  computing.call(4, "MPI_Send", false, 100);
  CHECK(has(notes_of(computing), "rank 4 (killed) was in no MPI call since 101 ns"));
  CHECK(notes_of(idle).empty());
}

TEST_CASE("ranks that poll share a note, however often each did") {
  Hung hung(2, "running");
  for (int rank = 0; rank < 2; ++rank) {
    for (int i = 0; i < 20 + rank; ++i) hung.call(rank, "MPI_Test", false, 100 + i);
    hung.call(rank, "MPI_Test", true, 200);
  }
  CHECK(has(notes_of(hung), "ranks 0, 1 poll with MPI_Test since 100 ns of the job"));
}

TEST_CASE("threads of a rank: those in a call, or the one that was in one last") {
  Hung hung(2, "running");
  for (int rank = 0; rank < 2; ++rank) hung.builder.log(rank).calls_of_lane.resize(2);
  hung.call(0, "MPI_Recv", true, 100);
  hung.call(0, "MPI_Send", false, 150, Hung::kWorld, 1);
  hung.call(1, "MPI_Recv", false, 100);
  hung.call(1, "MPI_Send", false, 150, Hung::kWorld, 1);
  const std::string notes = notes_of(hung);
  CHECK(has(notes, "rank 0 is in MPI_Recv"));
  CHECK(has(
      notes,
      "rank 1 is in no MPI call since 151 ns of the job, for 1.0 ms; the last one was MPI_Send"));
  CHECK(hung.job().run.notes.size() == 2);
}

TEST_CASE("threads of a rank in one place are one rank, whose receives count once") {
  Hung hung(1, "running");
  hung.builder.log(0).calls_of_lane.resize(2);
  for (std::size_t lane = 0; lane < 2; ++lane) {
    hung.call(0, "MPI_Recv", true, 100, Hung::kWorld, lane);
    hung.builder.open_receive(0, lane, test::kExact, 100);
  }
  CHECK(notes_of(hung) ==
        "rank 0 is in MPI_Recv on MPI_COMM_WORLD since 100 ns of the job, for 1.0 ms; open "
        "receives: 2\n");
}

TEST_CASE(
    "a thread that polls is told of also between its calls, as long as its process is there") {
  Hung idle(1, "running"), waiting(1, "running"), exited(1, "exited");
  for (Hung* hung : {&idle, &waiting, &exited}) {
    hung->builder.log(0).calls_of_lane.resize(2);
    for (int i = 0; i < 20; ++i) hung->call(0, "MPI_Test", false, 100 + i);
  }
  idle.call(0, "MPI_Send", false, 110, Hung::kWorld, 1);
  waiting.call(0, "MPI_Recv", true, 110, Hung::kWorld, 1);
  CHECK(has(notes_of(idle), "rank 0 polls with MPI_Test since 100 ns"));
  CHECK(idle.job().run.notes.size() == 1);
  CHECK(has(notes_of(waiting), "rank 0 polls with MPI_Test since 100 ns"));
  CHECK(has(notes_of(waiting), "rank 0 is in MPI_Recv on MPI_COMM_WORLD since 110 ns"));
  CHECK(notes_of(exited).empty());
}

TEST_CASE("of a rank whose threads that called have all ended, the newest call is told") {
  for (const std::size_t newest : {std::size_t{0}, std::size_t{1}}) {
    CAPTURE(newest);
    Hung hung(1, "running");
    log::test::LogBuilder ended;
    ended.lanes.resize(2);
    for (log::LaneInfo& lane : ended.lanes) lane.state = 2;
    hung.builder.log(0).file = ended.read();
    hung.builder.log(0).calls_of_lane.resize(2);
    hung.call(0, "MPI_Send", false, 150, Hung::kWorld, newest);
    // It polled before.
    for (int i = 0; i < 20; ++i) hung.call(0, "MPI_Test", false, 100 + i, Hung::kWorld, 1 - newest);
    const Json hang = hung.hang();
    REQUIRE(hang["ranks"].size() == 1);
    CHECK(hang["ranks"][0]["last_call"] == "MPI_Send");
    CHECK(hang["ranks"][0]["since_ns"] == 151);
    CHECK(hang["ranks"][0]["polls"] == 0);
    CHECK(notes_of(hung) ==
          "rank 0 is in no MPI call since 151 ns of the job, for 1.0 ms; the last one was "
          "MPI_Send\n");
  }
}

TEST_CASE("how a process ended is told also where its log is not whole") {
  Hung hung(2, "killed");
  hung.call(1, "MPI_Send", false, 100);
  hung.builder.log(1).recorded.gaps.push_back({});
  CHECK(has(notes_of(hung), "rank 1 (killed) was in no MPI call that was recorded"));
}

TEST_CASE("seats are compared by their words") {
  const char words[] = "since", same_words[] = "since";
  const Seat one = {.since = words}, other = {.since = same_words};
  CHECK((one == other));
}

TEST_CASE("processes without a rank that are in a call are counted, many places are cut") {
  Hung hung(19, "running");
  for (int i = 0; i < 19; ++i) {
    const CallIndex call = hung.call(i, "MPI_Recv", true, 100);
    hung.job().calls[call].tag = i;
  }
  hung.job().run.processes[18].rank = -1;
  const std::string notes = notes_of(hung);
  CHECK(has(notes, "processes sit in 2 more places; `uctrace hang` lists them"));
  CHECK(has(notes, "1 process without a rank in MPI calls that had not returned"));
}

}  // namespace
}  // namespace uctrace::merge

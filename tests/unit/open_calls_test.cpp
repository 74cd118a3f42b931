// Where processes sit: the notes and lists of calls and receives that are not over.
#include "log-merger/mpi/open_calls.hpp"

#include <doctest/doctest.h>

#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using test::JobBuilder;

constexpr int kRanks = 20;

struct Hung {
  explicit Hung(const char* exit) : builder(kRanks) {
    for (int i = 0; i < kRanks; ++i) {
      Process row;
      row.rank = i;
      row.exit = texts().intern(exit);
      builder.job.run.processes.push_back(row);
      builder.log(i).calls_of_lane.resize(1);
    }
  }
  Texts& texts() { return builder.job.run.texts; }

  MpiCall& call(Rank process, const char* function, bool open, std::int64_t start_ns) {
    MpiCall row;
    row.process = process;
    row.function = texts().intern(function);
    row.open = open;
    row.start_ns = start_ns;
    row.end_ns = open ? -1 : start_ns + 10;
    row.peer = row.tag = row.recv_peer = row.recv_tag = log::MpiCall::kNone;
    builder.job.calls.push_back(row);
    return builder.job.calls.back();
  }

  std::string notes() {
    note_open_calls(builder.job);
    std::string all;
    for (const std::string& note : builder.job.run.notes) all += note + "\n";
    return all;
  }

  JobBuilder builder;
};

TEST_CASE("ranks in one place share a note, which names some; a rank in no call says so") {
  Hung hung("running");
  for (int i = 0; i < kRanks - 2; ++i) hung.call(i, "MPI_Barrier", true, 100 + i);
  MpiCall& receive = hung.call(kRanks - 2, "MPI_Recv", true, 200);
  receive.peer = log::MpiCall::kAny;
  receive.tag = 5;
  hung.call(kRanks - 1, "MPI_Send", false, 50);
  const std::string notes = hung.notes();
  CHECK(notes.find("14, 15 and 2 more are in MPI_Barrier, since 100 ns of the job") !=
        std::string::npos);
  CHECK(notes.find("rank 18 is in MPI_Recv, any peer, tag 5, since 200 ns") != std::string::npos);
  CHECK(notes.find("rank 19 is in no MPI call, since 60 ns") != std::string::npos);
}

TEST_CASE("a process that died was where it was; one that ended well is nowhere") {
  Hung killed("killed"), finalized("finalized");
  killed.call(3, "MPI_Recv", true, 100);
  finalized.call(3, "MPI_Recv", false, 100);
  CHECK(killed.notes().find("rank 3 (killed) was in MPI_Recv, since") != std::string::npos);
  CHECK(finalized.notes().empty());
  Hung computing("killed");
  computing.call(4, "MPI_Send", false, 100);
  CHECK(computing.notes().find("rank 4 (killed) was in no MPI call, since 110 ns") !=
        std::string::npos);
}

TEST_CASE("receives that are not over are listed, the oldest first and not all of them") {
  Hung hung("running");
  for (std::uint64_t tick = 30; tick > 10; --tick) hung.builder.open_receive(1, 7, ~0ull, tick);
  hung.builder.receive(1, 7, 8, 5);
  hung.builder.cancelled_receive(1, 7, ~0ull, 6);
  const std::vector<Open> open = find_open(hung.builder.job);
  const nlohmann::ordered_json json = open_receives_json(hung.builder.job, open[1]);
  CHECK(json["count"] == 20);
  REQUIRE(json["oldest"].size() == 8);
  CHECK(json["oldest"][0]["since_ns"] == 11);
  CHECK(json["oldest"][0]["mpi"].is_null());
  CHECK(open_receives_json(hung.builder.job, open[0])["count"] == 0);
}

}  // namespace
}  // namespace uctrace::merge

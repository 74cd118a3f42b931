// What threads of an unfinished job wait for.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "log-merger/hang/collective_calls.hpp"
#include "log-merger/hang/rank_words.hpp"
#include "log-merger/hang/unmatched_sends.hpp"
#include "log-merger/model/number_runs.hpp"
#include "tests/unit/hang_job.hpp"

namespace uctrace::merge {
namespace {

using test::Hung;
using test::Json;
using test::kExact;

TEST_CASE("of two messages of one tag that are waited for, one that was sent is for the first") {
  Hung hung(2);
  hung.send(1, 0, 7, 100);
  const UcpIndex first =
      hung.builder.open_receive(0, Hung::tag_of(1, 7, Hung::kWorld), kExact, 200);
  hung.receive(0, 1, 7, 500);
  const CommMembers members(hung.job());
  const UnmatchedSends sends(hung.job(), members);
  CHECK(sends.is_on_its_way(first));
  CHECK(!sends.is_on_its_way(UcpIndex(hung.job().ucp.size() - 1)));
}

TEST_CASE("of requests that one call started a wait for one is not for the others") {
  for (const bool also_the_other : {false, true}) {
    Hung hung(3);
    const CallIndex first = hung.made_receive(1, 7, 0x91), second = hung.made_receive(2, 7, 0x92);
    const CallIndex start = hung.call(0, "MPI_Startall", false, 400);
    ProcessLog& log = hung.builder.log(0);
    log.call_requests[start].handles = {0x91, 0x92};
    log.makers_of_started[start] = {first, second};
    for (const int from : {1, 2}) {
      const UcpIndex op =
          hung.builder.open_receive(0, Hung::tag_of(from, 7, Hung::kWorld), kExact, 401);
      hung.builder.ucp(op).asked_by = start;
      hung.builder.ucp(op).comm = Hung::kWorld;
    }
    const CallIndex wait = hung.call(0, "MPI_Waitall", true, 500);
    log.call_requests[wait].handles = {0x91};
    if (also_the_other) log.call_requests[wait].handles.push_back(0x92);
    hung.call(1, "MPI_Send", false, 300);
    hung.receive(2, 0, 8, 500);
    const Json hang = hung.hang();
    const Json& waits = hang["ranks"][0]["waits_for"];
    REQUIRE(waits.size() == (also_the_other ? 2 : 1));
    CHECK(waits[0]["ranks"] == Json{1});
    CHECK(waits[0]["unsure"].is_null());
    CHECK(hang["verdict"] == (also_the_other ? "deadlock" : "waiting"));
  }
}

TEST_CASE("the nearest send was to a rank that left no log") {
  Hung hung(2);
  hung.receive(0, 1, 7, 500);
  const UcpIndex sent = hung.send(1, 0, 7, 100);
  hung.builder.ucp(sent).peer_process = kNone;
  hung.job().calls[hung.builder.ucp(sent).asked_by].peer = 5;
  const Json hang = hung.hang();
  REQUIRE(hang["nearest_unmatched"].size() == 1);
  CHECK(hang["nearest_unmatched"][0]["sent"]["to"].is_null());
  CHECK(hang["nearest_unmatched"][0]["text"].get<std::string>().find("left no log") !=
        std::string::npos);
}

TEST_CASE("the end of MPI waits for those that have not entered it") {
  Hung hung(3, "killed", [](int, log::ProcessPage& page) { page.world_size = 3; });
  hung.call(0, "MPI_Finalize", true, 500);
  hung.call(1, "MPI_Barrier", false, 400);
  hung.exits(2, "finalized");  // and its call was not recorded
  const Json hang = hung.hang();
  REQUIRE(hang["ranks"][0]["waits_for"].size() == 1);
  CHECK(hang["ranks"][0]["waits_for"][0]["ranks"] == Json{1});
  CHECK(hang["ranks"][0]["waits_for"][0]["unsure"].is_null());
  hung.builder.log(1).recorded.gaps.push_back({});
  CHECK(!hung.hang()["ranks"][0]["waits_for"][0]["unsure"].is_null());
}

TEST_CASE("a lock that failed, or was given back, is not held") {
  enum class Case { held, failed, given_back, dropped };
  for (const Case what : {Case::held, Case::failed, Case::given_back, Case::dropped}) {
    Hung hung(3);
    hung.make_window();
    const auto lock = [&](Rank rank, const char* function, bool open, std::int64_t start_ns) {
      const CallIndex index = hung.call(rank, function, open, start_ns);
      MpiCall& row = hung.job().calls[index];
      row.on_window = row.locks_alone = true;
      row.window = WindowIndex(0);
      row.peer = 2;
      return index;
    };
    const CallIndex first = lock(0, "MPI_Win_lock", false, 100);
    if (what == Case::failed) hung.job().calls[first].status = 1;
    if (what == Case::given_back) lock(0, "MPI_Win_unlock", false, 200);
    if (what == Case::dropped) hung.builder.log(0).recorded.gaps.push_back({});
    lock(1, "MPI_Win_lock", true, 500);
    const Json hang = hung.hang();
    REQUIRE(hang["ranks"][1]["waits_for"].size() == 1);
    const Json& wait = hang["ranks"][1]["waits_for"][0];
    const bool held = what == Case::held || what == Case::dropped;
    CHECK(wait["what"] == (held ? "lock" : "target"));
    CHECK(wait["unsure"].is_null() == (what == Case::held));
  }
}

// Rank 0 exposed its window to ranks 1 and 2 at 100 ns and waits for them; rank 1 has ended its
// access.
struct Exposing {
  Exposing() : hung(3) {
    hung.make_window();
    on_window(2, "MPI_Win_complete", 50);  // of an epoch before
    post = on_window(0, "MPI_Win_post", 100);
    for (const int origin : {1, 2}) tell(origin);
    on_window(1, "MPI_Win_complete", 200);
  }

  CallIndex on_window(int rank, const char* function, std::int64_t start_ns, bool open = false) {
    const CallIndex index = hung.call(rank, function, open, start_ns);
    hung.job().calls[index].on_window = true;
    hung.job().calls[index].window = WindowIndex(0);
    return index;
  }

  UcpOp& tell(int origin) {
    UcpOp& op = hung.builder.ucp(hung.builder.send(0, origin, 1, 8, 100));
    op.asked_by = post;
    return op;
  }

  Json row() {
    on_window(0, "MPI_Win_wait", 300, true);
    for (const int rank : {1, 2}) hung.call(rank, "MPI_Barrier", true, 400);
    const Json hang = hung.hang();
    REQUIRE(hang["ranks"][0]["call"] == "MPI_Win_wait");
    return hang["ranks"][0];
  }

  Hung hung;
  CallIndex post;
};

TEST_CASE(
    "a wait of an exposure is for the origins that were told and have not ended their access") {
  Exposing exposing;
  exposing.tell(0).arrival = 7;  // an answer
  const Json row = exposing.row();
  REQUIRE(row["waits_for"].size() == 1);
  CHECK(row["waits_for"][0]["ranks"] == Json{2});
  CHECK(row["waits_for"][0]["unsure"].is_null());
}

TEST_CASE(
    "an exposure of which all origins have ended their access waits for nobody that is known") {
  Exposing exposing;
  exposing.on_window(2, "MPI_Win_complete", 200);
  const Json row = exposing.row();
  CHECK(row["waits_for"].empty());
  CHECK(row["on_its_way"].is_string());
}

TEST_CASE(
    "that an origin has not ended its access is not sure where it ended one at about that time") {
  Exposing exposing;
  const CallIndex ended = exposing.on_window(2, "MPI_Win_complete", 60);
  exposing.hung.job().calls[ended].end_ns = 150;
  const Json row = exposing.row();
  REQUIRE(row["waits_for"].size() == 1);
  CHECK(row["waits_for"][0]["ranks"] == Json{2});
  CHECK(row["waits_for"][0]["unsure"].is_string());
}

TEST_CASE("whom an exposure waits for is unknown where calls or origins are") {
  enum class Case { other_window, no_window, dropped, no_log };
  for (const Case what : {Case::other_window, Case::no_window, Case::dropped, Case::no_log}) {
    Exposing exposing;
    MpiCall& post = exposing.hung.job().calls[exposing.post];
    if (what == Case::other_window) post.window = WindowIndex(1);
    if (what == Case::no_window) post.window = {};
    if (what == Case::dropped) exposing.hung.builder.log(0).recorded.gaps.push_back({});
    if (what == Case::no_log) exposing.tell(1).peer_process = {};
    const Json row = exposing.row();
    CAPTURE(static_cast<int>(what));
    CHECK(row["waits_for"].empty());
    CHECK(row["unknown"].is_string());
  }
}

TEST_CASE("a collective call that failed is not counted") {
  for (const bool failed : {false, true}) {
    Hung hung(2);
    const CallIndex first = hung.call(0, "MPI_Bcast", false, 100);
    if (failed) hung.job().calls[first].status = 1;
    hung.call(0, "MPI_Barrier", true, 500);
    hung.call(1, "MPI_Barrier", false, 200);
    const Json hang = hung.hang();
    CHECK(hang["ranks"][0]["waits_for"].empty() == failed);
  }
}

TEST_CASE("a message for a later receive is told beside the verdict only of who is stuck") {
  for (const bool stuck : {false, true}) {
    Hung hung(2);
    hung.send(1, 0, 8, 100);
    hung.receive(0, 1, 7, 500);
    if (stuck) hung.receive(1, 0, 9, 500);
    const Json hang = hung.hang();
    REQUIRE(hang["nearest_unmatched"].size() == 1);
    CHECK(hang["nearest_unmatched"][0]["stuck"] == stuck);
    const std::string summary = hang["summary"].dump();
    CHECK((summary.find("sent tag 8") != std::string::npos) == stuck);
  }
}

TEST_CASE("a wait of a partitioned receive is for the partitions that are not ready") {
  struct Row {
    std::uint32_t ready;
    bool started;
    const char* verdict;
  };
  for (const Row row :
       {Row{3, true, "deadlock"}, Row{4, true, "waiting"}, Row{0, false, "deadlock"}}) {
    Hung hung(2);
    const CallIndex sends = hung.call(0, "MPI_Psend_init", false, 100),
                    receives = hung.call(1, "MPI_Precv_init", false, 100);
    hung.job().calls[sends].request = hung.job().calls[receives].request = 0x91;
    const CallIndex start = hung.call(1, "MPI_Start", false, 200);
    hung.job().calls[start].request = 0x91;
    Run& run = hung.job().run;
    for (const bool is_send : {true, false}) {
      PartitionRequest request;
      request.sends = is_send;
      request.match = PartitionMatch::matched;
      request.process = is_send ? 0 : 1;
      request.tag = 5;
      request.partitions = 4;
      request.partner = is_send ? 1 : 0;
      request.call = (is_send ? sends : receives).number();
      run.partition_requests.push_back(request);
      PartitionOperation use;
      use.request = is_send ? 0 : 1;
      use.start_call = start.number();
      use.ready = row.ready;
      use.partner = !row.started ? -1 : is_send ? 1 : 0;
      if (!is_send || row.started) run.partition_operations.push_back(use);
    }
    hung.job().calls[hung.call(1, "MPI_Wait", true, 500)].request = 0x91;
    hung.receive(0, 1, 8, 500);  // the message that rank 1 would send after it
    const Json hang = hung.hang();
    CHECK(hang["verdict"] == row.verdict);
    const Json& waits = hang["ranks"][1]["waits_for"];
    REQUIRE(waits.size() == (row.ready == 4 ? 0 : 1));
    if (waits.empty()) continue;
    CHECK(waits[0]["what"] == "partitions");
    CHECK(waits[0]["text"] ==
          (row.started ? "rank 0 to make all partitions ready of its message with tag 5 on "
                         "MPI_COMM_WORLD: 3 of 4 are"
                       : "rank 0 to start the send of its message with tag 5 on MPI_COMM_WORLD"));
  }
}

TEST_CASE("whatever sizes a damaged log claims, groups are as large as the logs that are there") {
  Hung hung(3, "killed", [](int, log::ProcessPage& page) { page.world_size = INT32_MAX; });
  hung.job().comms[0].sides[0].members = {{1, 0, 4'000'000'000U, 0}};
  hung.job().comms[1].sides[0].members = {{0, 1, INT32_MAX, 0}};
  hung.job().comms[1].sides[0].size = INT32_MAX;
  hung.call(0, "MPI_Finalize", true, 500);
  CommMembers members(hung.job());
  CHECK(!members.all(InstanceIndex(0))->complete);
  const RankGroupRef copy = members.all(InstanceIndex(1));
  CHECK(copy->processes.size() == 3);
  CHECK(copy->size() == INT32_MAX);
  CHECK(copy->without_log.size() == RankGroup::kNamed);
  CHECK(copy->without_log.front() == 3);
  const Json hang = hung.hang();
  CHECK(hang["ranks"][0]["waits_for"][0]["count"] == INT32_MAX - 1);
  CHECK(hang["unknown"].size() == 1);
}

TEST_CASE("sends are for the receives that they fit, each for the first, beside trying all") {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    Hung hung(2);
    constexpr std::uint64_t kAnyTag = 0x000000ffffffffff,
                            kAnySource = ~(std::uint64_t{0xfffff} << 20);
    std::vector<UcpIndex> sends, receives;
    for (int i = 0; i < 8; ++i) {
      sends.push_back(hung.send(1, 0, static_cast<int>(random() % 3), 100 + i));
    }
    for (std::uint64_t i = 0; i < 6; ++i) {
      const std::uint64_t masks[] = {kExact, kAnyTag, kAnySource};
      receives.push_back(hung.builder.open_receive(
          0, Hung::tag_of(1, static_cast<int>(random() % 3), Hung::kWorld), masks[random() % 3],
          200 + i));
    }
    const CommMembers members(hung.job());
    const UnmatchedSends found(hung.job(), members);
    std::set<UcpIndex> taken;
    for (const UcpIndex receive : receives) {
      const UcpOp& wanted = hung.builder.ucp(receive);
      const auto fit = std::find_if(sends.begin(), sends.end(), [&](UcpIndex send) {
        return !taken.contains(send) &&
               ((hung.builder.ucp(send).tag ^ wanted.tag) & wanted.tag_mask) == 0;
      });
      CHECK(found.is_on_its_way(receive) == (fit != sends.end()));
      if (fit == sends.end()) continue;
      taken.insert(*fit);
      CHECK(found.receive_for(*fit) == receive);
    }
  }
}

TEST_CASE("the k-th collective calls of all members are one operation, in random orders of calls") {
  constexpr const char* kFunctions[] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Ibarrier"};
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    constexpr int kRanks = 5;
    Hung hung(kRanks);
    std::vector<std::vector<std::string>> called(kRanks);
    std::vector<CallIndex> last(kRanks);
    for (int rank = 0; rank < kRanks; ++rank) {
      const int calls = static_cast<int>(random() % 4);
      for (int i = 0; i < calls; ++i) {
        const char* function = kFunctions[random() % 8 == 0 ? random() % 3 : 0];
        last[rank] = hung.call(rank, function, false, 100 + i * 10);
        called[rank].push_back(function);
        // Others and those on another communicator do not count.
        hung.call(rank, random() % 2 == 0 ? "MPI_Send" : "MPI_Barrier", false, 105 + i * 10,
                  Hung::kCopy);
      }
    }
    CommMembers members(hung.job());
    CollectiveCalls collectives(hung.job(), members);
    for (int rank = 0; rank < kRanks; ++rank) {
      if (called[rank].empty()) continue;
      const CollectiveState& state = collectives.state_of(last[rank]);
      const std::size_t number = called[rank].size();
      CHECK(state.number == number);
      CHECK(state.unsure.empty());
      std::vector<ProcessIndex> not_entered;
      std::map<std::string, std::vector<ProcessIndex>> others;
      for (int other = 0; other < kRanks; ++other) {
        if (called[other].size() < number) {
          not_entered.push_back(ProcessIndex(other));
        } else if (called[other][number - 1] != called[rank].back()) {
          others[called[other][number - 1]].push_back(ProcessIndex(other));
        }
      }
      CHECK(state.not_entered->processes == not_entered);
      REQUIRE(state.others.size() == others.size());
      for (const OtherOperation& other : state.others) {
        CHECK(other.members->processes == others[other.function]);
      }
    }
  }
}

TEST_CASE("the nearest send differs in one respect, by their order, and is the newest such") {
  std::mt19937 random(11);
  int found_any = 0;
  for (int round = 0; round < 500; ++round) {
    Hung hung(3);
    struct Sent {
      int from, to, tag;
      CommIndex comm;
      UcpIndex op;
    };
    std::vector<Sent> sent;
    for (int i = 0; i < 4; ++i) {
      Sent one{static_cast<int>(random() % 3),
               static_cast<int>(random() % 3),
               static_cast<int>(random() % 2),
               CommIndex(random() % 2),
               {}};
      one.op = hung.send(one.from, one.to, one.tag, 100 + i, one.comm);
      sent.push_back(one);
    }
    const CommMembers members(hung.job());
    const UnmatchedSends sends(hung.job(), members);
    WantedMessage wanted;
    wanted.at = Rank(0);
    wanted.comm = Hung::kWorld;
    wanted.sources = members.addressed(Rank(0), Hung::kWorld, 1);
    wanted.tag = 0;
    const auto nearest = sends.nearest(wanted);
    UcpIndex expected;
    for (int respect = 0; respect < 4 && expected == kNone; ++respect) {
      for (const Sent& one : sent) {  // ascending in time
        const std::array<bool, 4> differs = {one.tag != 0, one.comm != Hung::kWorld, one.to != 0,
                                             one.from != 1};
        const bool only_this = differs[static_cast<std::size_t>(respect)] &&
                               std::count(differs.begin(), differs.end(), true) == 1;
        if (only_this) expected = one.op;
      }
    }
    CHECK(nearest.has_value() == (expected != kNone));
    if (nearest) CHECK(nearest->send == expected);
    found_any += nearest.has_value();
    const bool fits = std::any_of(sent.begin(), sent.end(), [](const Sent& one) {
      return one.from == 1 && one.to == 0 && one.tag == 0 && one.comm == Hung::kWorld;
    });
    CHECK(sends.would_find(wanted) == fits);
  }
  CHECK(found_any > 100);
}

TEST_CASE("words for ranks and places") {
  CHECK(number_runs({0, 1, 2, 5, 7, 8}) == "0-2, 5, 7, 8");
  CHECK(number_runs({0, 2, 4, 6, 8, 10, 12, 14, 16, 17}) == "0, 2, 4, 6, 8, 10, 12, 14 and 2 more");
  CHECK(number_runs({0, 1, 2}, 7) == "0-2 and 7 more");
  CHECK(ordinal(1) == "1st");
  CHECK(ordinal(112) == "112th");
  CHECK(ordinal(22) == "22nd");
  CHECK(ordinal(103) == "103rd");
}

}  // namespace
}  // namespace uctrace::merge

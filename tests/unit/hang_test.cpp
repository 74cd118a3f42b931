// What threads of an unfinished job wait for, and what is concluded from it.
#include "log-merger/hang/hang.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>

#include "log-merger/hang/collective_calls.hpp"
#include "log-merger/hang/rank_words.hpp"
#include "log-merger/hang/unmatched_sends.hpp"
#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using test::JobBuilder;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kExact = ~std::uint64_t{0};

// Ranks of Open MPI with two communicators of all of them.
struct Hung {
  static constexpr CommIndex kWorld{0}, kCopy{1};

  explicit Hung(int ranks, const char* exit = "killed") : builder(ranks) {
    for (const char* name : {"MPI_COMM_WORLD", "copy"}) {
      CommInstance instance;
      instance.sides[0].world = 0;
      instance.sides[0].size = static_cast<std::uint32_t>(ranks);
      instance.sides[0].members = {{0, 1, static_cast<std::uint32_t>(ranks), 0}};
      job().comms.push_back(instance);
      for (int i = 0; i < ranks; ++i) {
        Comm comm;
        comm.name = texts().intern(name);
        comm.instance = InstanceIndex(job().comms.size() - 1);
        builder.log(i).comms.push_back(comm);
      }
    }
    for (int i = 0; i < ranks; ++i) {
      Process row;
      row.rank = i;
      row.world = 0;
      row.exit = texts().intern(exit);
      job().run.processes.push_back(row);
      builder.log(i).calls_of_lane.resize(1);
      builder.log(i).world = 0;
      builder.log(i).flavour = MpiFlavour::open_mpi;
    }
  }
  Job& job() { return builder.job; }
  Texts& texts() { return builder.job.run.texts; }

  CallIndex call(Rank rank, const char* function, bool open, std::int64_t start_ns,
                 CommIndex comm = kWorld) {
    MpiCall row;
    row.process = rank;
    row.function = texts().intern(function);
    row.open = open;
    row.start_ns = start_ns;
    row.start_tick = static_cast<std::uint64_t>(start_ns);
    row.end_ns = open ? -1 : start_ns + 1;
    row.end_tick = open ? UINT64_MAX : row.start_tick + 1;
    row.peer = row.tag = row.recv_peer = row.recv_tag = log::MpiCall::kNone;
    row.comm = comm;
    job().calls.push_back(row);
    const CallIndex index(job().calls.size() - 1);
    builder.log(rank).calls_of_lane[0].push_back(index);
    return index;
  }

  static std::uint64_t tag_of(Rank source, int tag, CommIndex comm) {
    return static_cast<std::uint64_t>(tag) << 40 | source.place() << 20 | (comm.place() + 1);
  }

  CallIndex receive(Rank at, Rank from, int tag, std::int64_t start_ns, CommIndex comm = kWorld) {
    const CallIndex index = call(at, "MPI_Recv", true, start_ns, comm);
    job().calls[index].peer = from.number();
    job().calls[index].tag = tag;
    const UcpIndex op = builder.open_receive(at, tag_of(from, tag, comm), kExact,
                                             static_cast<std::uint64_t>(start_ns));
    builder.ucp(op).asked_by = index;
    builder.ucp(op).comm = comm;
    return index;
  }

  UcpIndex send(Rank from, Rank to, int tag, std::int64_t start_ns, CommIndex comm = kWorld) {
    const UcpIndex op =
        builder.send(from, to, tag_of(from, tag, comm), 4, static_cast<std::uint64_t>(start_ns));
    builder.ucp(op).asked_by = call(from, "MPI_Send", false, start_ns, comm);
    builder.ucp(op).comm = comm;
    return op;
  }

  Json hang() { return hang_json(builder.job); }

  JobBuilder builder;
};

std::vector<int> circle(const Json& hang) {
  std::vector<int> ranks;
  for (const Json& step : hang["cycle"]) ranks.push_back(step["rank"].get<int>());
  return ranks;
}

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
      CHECK(circle(hang) == (settled && !sent ? std::vector<int>{0, 1} : std::vector<int>{}));
      CHECK(hang["ranks"][1]["settled"] == settled);
      CHECK(hang["ranks"][0]["on_its_way"].is_null() != sent);
    }
  }
}

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

TEST_CASE("who waits for a rank that ended is stuck without a circle") {
  Hung hung(2, "running");
  hung.job().run.processes[1].exit = hung.texts().intern("exited");
  hung.receive(0, 1, 7, 500);
  const Json hang = hung.hang();
  CHECK(hang["state"] == "running");
  CHECK(hang["verdict"] == "deadlock");
  CHECK(hang["cycle"].empty());
  REQUIRE(hang["blocked_on"].size() == 1);
  CHECK(hang["blocked_on"][0]["text"] == "rank 1, which has exited");
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
      "all others wait for rank 3, which was in no MPI call since 401 ns of the job; its last one "
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
    const CommMembers members(hung.job());
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
  CHECK(ordinal(1) == "1st");
  CHECK(ordinal(112) == "112th");
  CHECK(ordinal(22) == "22nd");
  CHECK(ordinal(103) == "103rd");
}

}  // namespace
}  // namespace uctrace::merge

// Matching compared with a queue that behaves like a UCP worker: messages are matched in the order
// of their arrival, each with the first posted receive that fits.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using test::JobBuilder;
using test::kAllTagBits;
using Random = std::mt19937_64;
using Pairs = std::map<UcpIndex, UcpIndex>;  // send -> receive

// One worker's receives and its unexpected messages.
class Worker {
 public:
  explicit Worker(JobBuilder& builder) : builder_(builder) {}

  void post(UcpIndex receive) {
    const auto fits = [&](UcpIndex send) { return this->fits(receive, send); };
    const auto found = std::find_if(unexpected_.begin(), unexpected_.end(), fits);
    if (found == unexpected_.end()) {
      posted_.push_back(receive);
      return;
    }
    take(receive, *found);
    unexpected_.erase(found);
  }

  void arrive(UcpIndex send) {
    const auto fits = [&](UcpIndex receive) { return this->fits(receive, send); };
    const auto found = std::find_if(posted_.begin(), posted_.end(), fits);
    if (found == posted_.end()) {
      unexpected_.push_back(send);
      return;
    }
    take(*found, send);
    posted_.erase(found);
  }

  void cancel(UcpIndex receive) {
    const auto found = std::find(posted_.begin(), posted_.end(), receive);
    if (found == posted_.end()) return;
    posted_.erase(found);
    end(receive, -16, 0, 0);  // UCS_ERR_CANCELED
  }

  Pairs pairs;

 private:
  bool fits(UcpIndex receive, UcpIndex send) const {
    const UcpOp& r = builder_.ucp(receive);
    return ((r.tag ^ builder_.ucp(send).tag) & r.tag_mask) == 0;
  }

  void take(UcpIndex receive, UcpIndex send) {
    end(receive, 0, builder_.ucp(send).tag, builder_.ucp(send).bytes);
    pairs[send] = receive;
  }

  void end(UcpIndex receive, std::int32_t status, std::uint64_t tag, std::uint64_t bytes) {
    UcpOp& op = builder_.ucp(receive);
    op.ended = op.completed = true;
    op.end_status = status;
    op.sender_tag = tag;
    op.received_bytes = bytes;
  }

  JobBuilder& builder_;
  std::deque<UcpIndex> posted_, unexpected_;
};

// Sources 1 and 2 send to 0, each in its order. As in MPI the upper half of a tag is the source.
struct RandomJob {
  explicit RandomJob(std::uint64_t seed) : builder(3), worker(builder) {
    Random random(seed);
    std::uint64_t tick = 1;
    std::deque<UcpIndex> on_the_way[3];
    for (int step = 0; step < 400; ++step, ++tick) {
      const std::uint64_t source = 1 + random() % 2, tag = random() % 3;
      switch (random() % 5) {
        case 0:
        case 1:
          on_the_way[source].push_back(
              builder.send(static_cast<int>(source), 0, source << 32 | tag, random() % 4, tick));
          break;
        case 2:
          if (!on_the_way[source].empty()) {
            worker.arrive(on_the_way[source].front());
            on_the_way[source].pop_front();
          }
          break;
        case 3: {
          static constexpr std::uint64_t kMasks[] = {kAllTagBits, 0xffffffff00000000u, 0xffffffffu,
                                                     0};
          receives.push_back(
              builder.open_receive(0, source << 32 | tag, kMasks[random() % 4], tick));
          worker.post(receives.back());
          break;
        }
        default:
          if (!receives.empty() && random() % 4 == 0) {
            worker.cancel(receives[random() % receives.size()]);
          }
      }
    }
    for (auto& queue : on_the_way) {
      for (const UcpIndex send : queue) worker.arrive(send);
    }
  }

  JobBuilder builder;
  Worker worker;
  std::vector<UcpIndex> receives;
};

TEST_CASE("matching is what a worker does, for any order, wildcard and cancelled receive") {
  std::size_t exact = 0, ambiguous = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    RandomJob random(seed);
    Job& job = random.builder.job;
    match_messages(job);
    for (const UcpIndex i : job.ucp.indexes()) {
      const UcpOp& op = job.ucp[i];
      if (!op.is_send()) continue;
      const auto truth = random.worker.pairs.find(i);
      const UcpIndex taken_by = truth == random.worker.pairs.end() ? kNone : truth->second;
      REQUIRE(op.partner == taken_by);
      REQUIRE((op.match == Match::unmatched) == (taken_by == kNone));
      exact += op.match == Match::exact;
      ambiguous += op.match == Match::ambiguous;
    }
  }
  CHECK(exact > 1000);
  // According to the logs, a receive that is still open may have matched a message.
  CHECK(ambiguous < exact / 4);
}

TEST_CASE("whichever records were dropped, no wrong pair is exact") {
  std::size_t exact = 0, doubtful = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    RandomJob random(seed);
    Random drops(seed);
    Job& job = random.builder.job;
    random.builder.drop_some(drops);
    match_messages(job);
    for (const UcpIndex i : job.ucp.indexes()) {
      const UcpOp& op = job.ucp[i];
      if (!op.is_send() || op.match != Match::exact) continue;
      const auto truth = random.worker.pairs.find(i);
      REQUIRE(truth != random.worker.pairs.end());
      REQUIRE(op.partner == truth->second);
      ++exact;
    }
    doubtful += job.findings.doubtful_by_loss;
    REQUIRE(job.run.notes.size() == (job.findings.doubtful_by_loss != 0));
  }
  CHECK(exact > 1000);
  CHECK(doubtful > 1000);
}

TEST_CASE("two sources of one key are ambiguous, one message of one key is not") {
  JobBuilder builder(3);
  builder.send(1, 0, 7, 8, 1);
  builder.send(2, 0, 7, 8, 2);
  builder.receive(0, 7, 8, 3);
  builder.receive(0, 7, 8, 4);
  builder.send(1, 0, 8, 8, 5);
  builder.receive(0, 8, 8, 6);
  match_messages(builder.job);
  CHECK(builder.ucp(UcpIndex(0)).match == Match::ambiguous);
  CHECK(builder.ucp(UcpIndex(1)).match == Match::ambiguous);
  CHECK(builder.ucp(UcpIndex(4)).match == Match::exact);
  CHECK(builder.ucp(UcpIndex(4)).partner == UcpIndex(5));
  CHECK(builder.ucp(UcpIndex(5)).peer_process == ProcessIndex(1));
}

TEST_CASE(
    "two sources of one key are told apart where one had been received before the other sent") {
  JobBuilder builder(3);
  const UcpIndex early = builder.send(1, 0, 7, 8, 1), late = builder.send(2, 0, 7, 8, 50);
  const UcpIndex first = builder.receive(0, 7, 8, 10), second = builder.receive(0, 7, 8, 11);
  builder.ucp(second).end_ns = 60;

  SUBCASE("ended before") {
    builder.ucp(first).end_ns = 49;
    match_messages(builder.job);
    CHECK(builder.ucp(first).partner == early);
    CHECK(builder.ucp(second).partner == late);
    CHECK(builder.ucp(first).match == Match::exact);
    CHECK(builder.ucp(second).match == Match::exact);
  }
  SUBCASE("ended at the same time or later") {
    builder.ucp(first).end_ns = 50;
    match_messages(builder.job);
    CHECK(builder.ucp(first).match == Match::ambiguous);
    CHECK(builder.ucp(second).match == Match::ambiguous);
  }
}

TEST_CASE("threads and endpoints that share a key are ambiguous") {
  for (const bool by_lane : {true, false}) {
    JobBuilder builder(2);
    builder.send(0, 1, 7, 8, 1);
    UcpOp& second = builder.ucp(builder.send(0, 1, 7, 8, 2));
    if (by_lane) {
      second.lane = 3;
    } else {
      second.handle += 1;
    }
    builder.receive(1, 7, 8, 3);
    builder.receive(1, 7, 8, 4);
    match_messages(builder.job);
    CHECK(builder.ucp(UcpIndex(0)).match == Match::ambiguous);
  }
}

TEST_CASE("the place of a matched receive is its probe's") {
  JobBuilder builder(2);
  const UcpIndex first = builder.send(0, 1, 7, 8, 1), second = builder.send(0, 1, 7, 8, 2);
  const UcpIndex received = builder.receive(1, 7, 8, 10), probed = builder.receive(1, 7, 8, 20);
  builder.ucp(probed).posted_tick = 5;
  match_messages(builder.job);
  CHECK(builder.ucp(first).partner == probed);
  CHECK(builder.ucp(second).partner == received);
}

TEST_CASE("a pair is not exact where another receive may have come in between") {
  JobBuilder builder(2);
  const UcpIndex first = builder.send(0, 1, 7, 8, 1), second = builder.send(0, 1, 7, 8, 2);
  const UcpIndex before = builder.receive(1, 7, 8, 10);
  SUBCASE("the next receive may have taken the second") {
    builder.open_receive(1, 7, kAllTagBits, 20);
    match_messages(builder.job);
    CHECK(builder.ucp(first).match == Match::exact);
    CHECK(builder.ucp(first).partner == before);
    CHECK(builder.ucp(second).match == Match::unmatched);
  }
  SUBCASE("an earlier receive may have taken the first") {
    builder.open_receive(1, 0, 0, 5);
    match_messages(builder.job);
    CHECK(builder.ucp(first).match == Match::ambiguous);
  }
  SUBCASE("an earlier receive was for another tag") {
    builder.open_receive(1, 8, kAllTagBits, 5);
    match_messages(builder.job);
    CHECK(builder.ucp(first).match == Match::exact);
  }
  SUBCASE("more receives than sends: another sender left no log") {
    builder.receive(1, 7, 8, 20);
    builder.receive(1, 7, 8, 30);
    match_messages(builder.job);
    CHECK(builder.ucp(first).match == Match::ambiguous);
    CHECK(builder.ucp(second).match == Match::ambiguous);
  }
}

TEST_CASE("failed sends and receives, and lengths that differ, are no exact pair") {
  JobBuilder builder(2);
  builder.ucp(builder.send(0, 1, 7, 8, 1)).end_status = -25;
  builder.cancelled_receive(1, 7, kAllTagBits, 2);
  const UcpIndex send = builder.send(0, 1, 7, 8, 3), receive = builder.receive(1, 7, 9, 4);
  match_messages(builder.job);
  CHECK(builder.ucp(send).partner == receive);
  CHECK(builder.ucp(send).match == Match::ambiguous);
  CHECK(builder.ucp(UcpIndex(0)).match == Match::unmatched);
  CHECK(builder.ucp(UcpIndex(1)).match == Match::unmatched);
}

}  // namespace
}  // namespace uctrace::merge

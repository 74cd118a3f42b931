// Matching of active messages, compared with a worker that calls one handler for messages of
// several processes, in any order of arrival that preserves the order of each sender.
#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using test::JobBuilder;
using wire::AmId;
using Random = std::mt19937_64;

constexpr std::uint64_t kHandler = 5, kProgramHeader = 16;
constexpr std::uint64_t kFirstWord = kHandler | kProgramHeader << 32;

// How a message appears to both sides. `told`: else its header says no more than the handler.
struct Look {
  enum Way { single, fragments, rendezvous } way;
  std::uint64_t bytes, content;
  bool told;
  auto operator<=>(const Look&) const = default;
};

class Sender {
 public:
  Sender(JobBuilder& builder, Rank process) : builder_(builder), process_(process) {}

  void send(const Look& look, std::uint64_t tick) {
    const UcpIndex op =
        builder_.active_send(process_, 0, kHandler, kProgramHeader, look.bytes, tick);
    const auto at = static_cast<std::int64_t>(tick);
    const auto post = [&](AmId id, std::uint64_t bytes, std::uint64_t word, std::uint64_t content) {
      const UctIndex uct = builder_.active_message(process_, 0, id, bytes, at, {word, content});
      builder_.from_ucp(uct, op);
      if (!look.told) builder_.uct(uct).header.count = 1;
    };
    switch (look.way) {
      case Look::single:
        post(AmId::am_single, 8 + look.bytes, kFirstWord, look.content);
        break;
      case Look::fragments:
        post(AmId::am_first, 32 + look.bytes - 4, kFirstWord, look.content);
        post(AmId::am_middle, 24 + 4, look.bytes - 4, look.content);
        break;
      case Look::rendezvous: {
        const std::uint64_t data = look.bytes - kProgramHeader;
        const UctIndex rts = builder_.active_message(process_, 0, AmId::rndv_rts, 60, at,
                                                     {kFirstWord, 1, look.content, 0x5000, data});
        builder_.from_ucp(rts, op);
      }
    }
    on_the_way.push_back({op, look});
  }

  // The receiver's side of the oldest message on its way.
  void arrive(std::map<UcpIndex, UcpIndex>& taken, std::uint64_t tick) {
    const auto [op, look] = on_the_way.front();
    on_the_way.pop_front();
    const auto at = static_cast<std::int64_t>(tick);
    const log::Id arrival =
        look.way == Look::single
            ? builder_.arrival(0, AmId::am_single, at, {kFirstWord, look.content})
        : look.way == Look::fragments
            ? builder_.arrival(0, AmId::am_middle, at, {look.bytes - 4, look.content})
            : builder_.arrival(0, AmId::rndv_rts, at,
                               {kFirstWord, 1, look.content, 0x5000, look.bytes - kProgramHeader});
    const UcpIndex call = builder_.handler_call(0, kHandler, kProgramHeader, look.bytes, tick);
    builder_.ucp(call).arrival = arrival;
    taken[op] = call;
  }

  struct OnTheWay {
    UcpIndex op;
    Look look;
  };
  std::deque<OnTheWay> on_the_way;

 private:
  JobBuilder& builder_;
  Rank process_;
};

struct RandomActiveJob {
  static constexpr int kSenders = 3;

  // `untold_of`: one in so many says nothing of its content, 0 = none. `lost`: some never arrive.
  RandomActiveJob(std::uint64_t seed, std::uint64_t untold_of, bool lost) : builder(1 + kSenders) {
    Random random(seed);
    std::deque<Sender> senders;
    for (int i = 1; i <= kSenders; ++i) senders.emplace_back(builder, i);
    std::uint64_t tick = 1;
    for (int step = 0; step < 200; ++step, tick += 10) {
      const std::size_t i = random() % senders.size();
      if (random() % 2 == 0) {
        const Look look{.way = static_cast<Look::Way>(random() % 3),
                        .bytes = 40 + 8 * (random() % 2),
                        // Of this sender alone, or of any.
                        .content = random() % 4 == 0 ? random() % 3 : 100 * (i + 1) + random() % 3,
                        .told = untold_of == 0 || random() % untold_of != 0};
        senders[i].send(look, tick);
        looks[senders[i].on_the_way.back().op] = look;
        senders_of[look].insert(i);
      } else if (!senders[i].on_the_way.empty()) {
        senders[i].arrive(taken, tick);
      }
    }
    for (Sender& sender : senders) {
      while (!lost && !sender.on_the_way.empty()) sender.arrive(taken, tick += 10);
    }
  }

  bool is_true(UcpIndex send) const {
    const auto truth = taken.find(send);
    return truth != taken.end() && builder.job.ucp[send].partner == truth->second;
  }

  JobBuilder builder;
  std::map<UcpIndex, UcpIndex> taken;  // send -> call
  std::map<UcpIndex, Look> looks;      // of the sends
  std::map<Look, std::set<std::size_t>> senders_of;
};

struct Found {
  std::size_t exact = 0, ambiguous = 0, wrong = 0;
};

// No exact pair is wrong; where all contents are known, those unlike any other sender's are exact.
Found check(RandomActiveJob& random, bool all_told) {
  Found found;
  match_messages(random.builder.job);
  for (const auto& [send, look] : random.looks) {
    const UcpOp& op = random.builder.ucp(send);
    found.ambiguous += op.match == Match::ambiguous;
    if (op.match == Match::exact) {
      ++found.exact;
      REQUIRE(random.is_true(send));
    }
    if (all_told && random.senders_of[look].size() == 1) {
      const bool arrived = random.taken.count(send) != 0;
      REQUIRE(op.match == (arrived ? Match::exact : Match::unmatched));
    }
  }
  return found;
}

TEST_CASE("active messages of several senders are told apart by their content") {
  Found all;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    RandomActiveJob random(seed, 0, seed % 2 == 0);
    const Found found = check(random, true);
    all.exact += found.exact;
    all.ambiguous += found.ambiguous;
  }
  CHECK(all.exact > 10'000);
  CHECK(all.ambiguous > 100);  // of one content, sent by several
}

TEST_CASE("contents that some messages do not tell make no pair exact that is wrong") {
  Found all;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    RandomActiveJob random(seed, 30, seed % 2 == 0);
    const Found found = check(random, false);
    all.exact += found.exact;
    all.ambiguous += found.ambiguous;
  }
  CHECK(all.exact > 5'000);
  CHECK(all.ambiguous > 1'000);
}

TEST_CASE("whatever was dropped, no pair of active messages is exact that is wrong") {
  std::size_t doubtful = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    RandomActiveJob random(seed, 0, seed % 2 == 0);
    Random drops(seed);
    random.builder.drop_some(drops);
    check(random, false);
    doubtful += random.builder.job.findings.doubtful_by_loss;
  }
  CHECK(doubtful > 1'000);
}

// Two messages of two senders in flight at once, with different contents.
struct TwoSenders {
  TwoSenders() : builder(3), a(builder, 1), b(builder, 2) {
    a.send({Look::single, 40, 11, true}, 1);
    b.send({Look::single, 40, 22, true}, 2);
    b.arrive(taken, 10);
    a.arrive(taken, 20);
  }
  UcpOp& first() { return builder.ucp(UcpIndex(0)); }

  JobBuilder builder;
  Sender a, b;
  std::map<UcpIndex, UcpIndex> taken;
};

TEST_CASE("the second of two may arrive first") {
  TwoSenders two;
  match_messages(two.builder.job);
  CHECK(two.first().match == Match::exact);
  CHECK(two.first().partner == two.taken.at(UcpIndex(0)));
}

TEST_CASE("without UCT's records nothing tells two apart, and what was dropped is the reason") {
  TwoSenders two;
  Job& job = two.builder.job;
  for (ProcessLog& log : job.logs) log.arrival_by_id = {};
  for (UctOp& op : job.uct) op.origin_kind = log::Origin::none;
  SUBCASE("left out") {
    match_messages(job);
    CHECK(job.run.notes.empty());
  }
  SUBCASE("dropped") {
    two.builder.log(0).totals.dropped[static_cast<std::size_t>(log::DropKind::uct)] = 2;
    match_messages(job);
    CHECK(job.findings.doubtful_by_loss == 2);
    CHECK(job.run.notes.size() == 1);
  }
  CHECK(two.first().match == Match::ambiguous);
}

TEST_CASE("what a blocking call posted meanwhile is not taken for its own content") {
  TwoSenders two;
  for (UctOp& op : two.builder.job.uct) op.route = log::Route::blocking;
  match_messages(two.builder.job);
  CHECK(two.first().match == Match::ambiguous);
}

}  // namespace
}  // namespace uctrace::merge

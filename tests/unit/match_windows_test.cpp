// Matching in a run of which events are missing: random jobs on a queue that behaves like a UCP
// worker are cut to random windows, and matches then called exact must be true.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "log-merger/match/quiescence.hpp"
#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using test::JobBuilder;
using test::kAllTagBits;
using Random = std::mt19937_64;

constexpr std::uint64_t kStep = 10, kSteps = 300;

// Sources 1 and 2 send to 0, each in its order; the upper half of a tag is the source, as in MPI.
// All messages are of one length, so that only their order distinguishes them.
struct Truth {
  explicit Truth(std::uint64_t seed) : builder(3) {
    Random random(seed);
    // Some jobs are calm: most of their messages are received at once.
    const std::uint64_t calm = random() % 4;
    for (std::uint64_t step = 1; step <= kSteps; ++step) {
      tick = step * kStep;
      const std::uint64_t source = 1 + random() % 2, tag = source << 32 | random() % 2;
      switch (random() % (3 + calm)) {
        case 0:
          on_the_way[source].push_back(builder.send(static_cast<int>(source), 0, tag, 8, tick));
          break;
        case 1: {
          static constexpr std::uint64_t kMasks[] = {kAllTagBits, kAllTagBits, kAllTagBits,
                                                     0xffffffffu};
          const UcpIndex receive = builder.open_receive(0, tag, kMasks[random() % 4], tick);
          const auto found = std::find_if(unexpected.begin(), unexpected.end(),
                                          [&](UcpIndex send) { return fits(receive, send); });
          if (found == unexpected.end()) {
            posted.push_back(receive);
          } else {
            take(receive, *found);
            unexpected.erase(found);
          }
          break;
        }
        default:
          arrive(source);
      }
    }
  }

  bool fits(UcpIndex receive, UcpIndex send) {
    const UcpOp& op = builder.ucp(receive);
    return ((op.tag ^ builder.ucp(send).tag) & op.tag_mask) == 0;
  }

  void arrive(std::uint64_t source) {
    if (on_the_way[source].empty()) return;
    const UcpIndex send = on_the_way[source].front();
    on_the_way[source].pop_front();
    const auto found = std::find_if(posted.begin(), posted.end(),
                                    [&](UcpIndex receive) { return fits(receive, send); });
    if (found == posted.end()) {
      unexpected.push_back(send);
    } else {
      take(*found, send);
      posted.erase(found);
    }
  }

  void take(UcpIndex receive, UcpIndex send) {
    UcpOp& op = builder.ucp(receive);
    op.ended = op.completed = true;
    op.end_status = 0;
    op.end_ns = static_cast<std::int64_t>(tick);
    op.sender_tag = builder.ucp(send).tag;
    op.received_bytes = 8;
    taken_by[builder.ucp(send).id] = op.id;
  }

  JobBuilder builder;
  std::uint64_t tick = 0;
  std::deque<UcpIndex> on_the_way[3], posted, unexpected;
  std::map<log::Id, log::Id> taken_by;  // send -> receive
};

// Gaps that no event falls onto the edge of.
std::vector<Gap> random_gaps(Random& random) {
  std::vector<Gap> gaps;
  std::uint64_t at = random() % 2 == 0 ? 0 : random() % (kSteps / 2) * kStep + 5;
  while (at < kSteps * kStep && random() % 4 != 0) {
    const std::uint64_t end = (at / kStep + 1 + random() % (kSteps / 3)) * kStep + 5;
    gaps.push_back({at, random() % 8 == 0 ? UINT64_MAX : end});
    if (gaps.back().end_tick == UINT64_MAX) break;
    at = end + (1 + random() % (kSteps / 2)) * kStep;
  }
  return gaps;
}

bool in_gap(const std::vector<Gap>& gaps, std::int64_t at_ns) {
  const auto at = static_cast<std::uint64_t>(at_ns);
  return std::any_of(gaps.begin(), gaps.end(),
                     [&](const Gap& gap) { return gap.begin_tick < at && at <= gap.end_tick; });
}

void count(log::LaneCounters& counters, const UcpOp& op) {
  ++counters.ucp_operations;
  ++(op.is_send() ? counters.ucp_sends : counters.ucp_receives);
}

void count_end(log::LaneCounters& counters) {
  ++counters.ucp_completed;
  ++counters.ucp_messages_taken;
}

// Leaves of the job what its processes recorded outside of `gaps`.
void cut(Job& job, const std::vector<std::vector<Gap>>& gaps) {
  for (std::size_t p = 0; p < job.logs.size(); ++p) {
    ProcessLog& log = job.logs[p];
    log.clock = log::ClockFit(log::Clock::tsc, {{0, 0, 1}, {1'000'000, 1'000'000, 1'000'001}});
    log.flavour = MpiFlavour::open_mpi;
    log.workers = {{.handle = JobBuilder::kWorker, .uid = JobBuilder::uid(static_cast<int>(p))}};
    log.recorded.gaps = gaps[p];
    for (const Gap& gap : gaps[p]) log.recorded.lane_gaps.push_back({gap, 0, false, {}});
  }
  job.monotonic_clocks = 1;
  std::vector<UcpOp> kept;
  for (UcpOp op : job.ucp) {
    ProcessLog& log = job.logs[op.process];
    const auto counters_at = [&](std::int64_t at_ns) -> log::LaneCounters* {
      for (LaneGap& gap : log.recorded.lane_gaps) {
        if (in_gap({gap.span}, at_ns)) return &gap.counted;
      }
      return nullptr;
    };
    log::LaneCounters* begun = counters_at(op.start_ns);
    count(log.totals, op);
    if (begun != nullptr) count(*begun, op);
    if (op.completed) {
      count_end(log.totals);
      if (log::LaneCounters* ended = counters_at(op.end_ns)) {
        count_end(*ended);
        op.ended = op.completed = false;
        op.end_status = 1;
        op.end_ns = -1;
      } else if (begun != nullptr) {
        job.outside_receives.push_back({op.process, op.id, op.sender_tag, op.end_ns});
      }
    }
    if (begun == nullptr) kept.push_back(op);
  }
  job.ucp.assign(kept.begin(), kept.end());
}

struct Outcome {
  std::size_t exact = 0, inferred = 0, wrongly_inferred = 0, ambiguous = 0, outside = 0;
};

void check_against(const Truth& truth, const Job& job, Outcome& sum) {
  for (const UcpOp& op : job.ucp) {
    if (!op.is_send()) {
      continue;
    }
    const auto found = truth.taken_by.find(op.id);
    const log::Id truly = found == truth.taken_by.end() ? 0 : found->second;
    const log::Id shown = op.partner == kNone ? 0 : job.ucp[op.partner].id;
    REQUIRE((shown == 0) == (op.match == Match::unmatched || op.match == Match::outside_window));
    if (op.match == Match::exact) REQUIRE(shown == truly);
    if (op.match == Match::unmatched) REQUIRE(truly == 0);
    sum.exact += op.match == Match::exact;
    sum.inferred += op.match == Match::inferred;
    sum.wrongly_inferred += op.match == Match::inferred && shown != truly;
    sum.ambiguous += op.match == Match::ambiguous;
    sum.outside += op.match == Match::outside_window;
  }
  for (const UcpOp& op : job.ucp) {
    if (op.received()) REQUIRE(op.match != Match::unmatched);  // each took something
  }
}

TEST_CASE("what is called exact in windows is what happened in the whole run") {
  Outcome sum;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    Truth truth(seed);
    Job& job = truth.builder.job;
    Random random(seed * 77);
    std::vector<std::vector<Gap>> gaps;
    const std::vector<Gap> common = random_gaps(random);
    for (std::size_t p = 0; p < job.logs.size(); ++p) {
      gaps.push_back(seed % 2 == 0 ? common : random_gaps(random));
    }
    cut(job, gaps);
    match_messages(job);
    check_against(truth, job, sum);
  }
  MESSAGE("exact ", sum.exact, ", inferred ", sum.inferred, " (", sum.wrongly_inferred,
          " wrongly), ambiguous ", sum.ambiguous, ", outside ", sum.outside);
  CHECK(sum.exact > 3000);
  CHECK(sum.inferred > 0);
  CHECK(sum.wrongly_inferred * 5 < sum.inferred);
  CHECK(sum.outside > 1000);
}

TEST_CASE("in windows, too, no wrong pair is exact, whichever records were dropped") {
  std::size_t exact = 0, doubtful = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    Truth truth(seed);
    Job& job = truth.builder.job;
    Random random(seed * 77);
    const std::vector<Gap> gaps = random_gaps(random);
    cut(job, {gaps, gaps, gaps});
    truth.builder.drop_some(random);
    match_messages(job);
    for (const UcpOp& op : job.ucp) {
      if (!op.is_send() || op.match != Match::exact) continue;
      const auto found = truth.taken_by.find(op.id);
      REQUIRE(found != truth.taken_by.end());
      REQUIRE(job.ucp[op.partner].id == found->second);
      ++exact;
    }
    doubtful += job.findings.doubtful_by_loss;
  }
  CHECK(exact > 1000);
  CHECK(doubtful > 1000);
}

TEST_CASE("without whole counts nothing is exact behind a gap") {
  for (const bool whole : {true, false}) {
    JobBuilder builder(2);
    const UcpIndex send = builder.send(0, 1, 7, 8, 500), receive = builder.receive(1, 7, 8, 510);
    builder.ucp(receive).end_ns = 520;
    builder.ucp(builder.send(0, 1, 7, 8, 900)).end_ns = 900;
    builder.ucp(builder.receive(1, 7, 8, 910)).end_ns = 920;
    cut(builder.job, {{{0, 405}}, {{0, 405}}});
    // The only difference: a message that one process counts in the gap, and no one there receives.
    builder.log(0).recorded.lane_gaps[0].counted.ucp_operations = 1;
    builder.log(0).recorded.lane_gaps[0].counted.ucp_sends = whole ? 0 : 1;
    builder.log(0).totals.ucp_sends += whole ? 0 : 1;
    match_messages(builder.job);
    CHECK(builder.ucp(send).partner == receive);
    CHECK(builder.ucp(send).match == (whole ? Match::exact : Match::ambiguous));
  }
}

// The wall clock of the receiver is 2 ms behind, by an unknown amount.
TEST_CASE("times of clocks that were not measured do not move what lies side by side") {
  constexpr std::uint64_t kBehind = 2'000'000, kBegin = 10'000'000;
  JobBuilder builder(2);
  std::vector<UcpIndex> sends, receives;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::uint64_t at = kBegin + i * 1000;
    sends.push_back(builder.send(0, 1, 7, 8, at));
    receives.push_back(builder.receive(1, 7, 8, at + 100 - kBehind));
    builder.ucp(receives.back()).end_ns = static_cast<std::int64_t>(at + 200 - kBehind);
  }
  cut(builder.job, {{{0, 5}}, {{0, 5}}});
  for (ProcessLog& log : builder.job.logs) log.recorded.lane_gaps[0].counted.ucp_operations = 1;
  builder.log(1).monotonic_clock = 1;
  builder.job.monotonic_clocks = 2;
  builder.job.clock_places = {PlacedClock{}, std::nullopt};
  match_messages(builder.job);
  for (std::size_t i = 0; i < sends.size(); ++i) {
    CHECK(builder.ucp(sends[i]).partner == receives[i]);
  }
}

TEST_CASE("a receive whose end gave way to newer events took nothing of what is left") {
  for (const bool overwritten : {true, false}) {
    JobBuilder builder(2);
    const UcpIndex earlier = builder.open_receive(1, 7, kAllTagBits, 204);  // ended at once
    const UcpIndex send = builder.send(0, 1, 7, 8, 300);
    const UcpIndex receive = builder.receive(1, 7, 8, 290);
    builder.ucp(receive).end_ns = 310;
    builder.ucp(builder.receive(1, 9, 8, 280)).end_ns = 400;  // so that no instant is quiescent
    builder.send(0, 1, 9, 8, 150);
    cut(builder.job, {{{0, 203}}, {{0, 203}}});
    for (ProcessLog& log : builder.job.logs) {
      LaneGap& gap = log.recorded.lane_gaps[0];
      gap.overwritten = overwritten;
      gap.span.end_tick = 205;  // the beginning was recorded behind the end
    }
    CHECK(builder.ucp(earlier).took_unknown());
    match_messages(builder.job);
    CHECK(builder.ucp(send).match == (overwritten ? Match::inferred : Match::ambiguous));
    CHECK(builder.ucp(send).partner == receive);
  }
}

TEST_CASE("parts begin and end where nothing is on its way, and at gaps") {
  JobBuilder builder(2);
  builder.send(0, 1, 7, 8, 100);
  builder.ucp(builder.receive(1, 7, 8, 110)).end_ns = 120;
  builder.send(0, 1, 7, 8, 500);
  builder.ucp(builder.receive(1, 7, 8, 490)).end_ns = 520;
  cut(builder.job, {{{205, 305}}, {}});
  builder.log(0).recorded.lane_gaps[0].counted.ucp_operations = 1;  // a flush
  const auto parts = whole_parts(builder.job, log::UcpFamily::tag_send);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].quiescent_before);
  CHECK(parts[0].end_ns == 100);  // an operation may have been under way since the last known one
  CHECK_FALSE(parts[0].quiescent_after);
  CHECK(parts[1].begin_ns == 305);
  CHECK(parts[1].quiescent_after);
  CHECK(parts[2].quiescent_before);
  CHECK(parts[2].end_ns == INT64_MAX);
}

}  // namespace
}  // namespace uctrace::merge

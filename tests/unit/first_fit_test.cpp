// Searches that skip what cannot fit, compared with an exhaustive search.
#include "log-merger/model/first_fit.hpp"

#include <doctest/doctest.h>

#include <random>

#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using test::JobBuilder;
using wire::AmId;

TEST_CASE("the first that fits is the one that a search of all finds") {
  std::mt19937 random(1);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (std::size_t count = 0; count < 40; ++count) {
    FirstFit fits;
    std::vector<FirstFit::Entry> all;
    std::vector<bool> removed(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t begin = below(20);
      all.push_back({static_cast<std::int64_t>(below(20)), begin, begin + below(10)});
      fits.add(all.back());
    }
    for (int search = 0; search < 200; ++search) {
      const auto at = static_cast<std::int64_t>(below(20));
      const std::uint64_t begin = below(20), end = begin + below(4);
      std::size_t expected = 0;
      while (expected < count && (removed[expected] || all[expected].since_ns > at ||
                                  all[expected].begin > begin || all[expected].end < end)) {
        ++expected;
      }
      const std::size_t found = fits.find(at, begin, end);
      CHECK(found == (expected < count ? expected : FirstFit::kNothing));
      if (found != FirstFit::kNothing && below(4) == 0) {
        fits.remove(found);
        removed[found] = true;
      }
    }
  }
}

// Whether the first fragment describes the send, implemented independently of the merger.
bool fits(const UctOp& op, const UcpOp& send, Rank receiver) {
  const auto& words = op.header.words;
  const bool unknown = (send.flags & log::UcpOperation::kUnknownLength) != 0;
  if (words[0] != send.tag || send.start_ns > op.start_ns || send.process != op.process ||
      (send.peer_process != kNone && send.peer_process != receiver)) {
    return false;
  }
  switch (static_cast<AmId>(op.am_id)) {
    case AmId::rndv_rts:
      return (unknown || words[4] == send.bytes) && (words[3] == 0 || words[3] == send.buffer);
    case AmId::eager_first:
      return unknown || words[1] == send.bytes;
    default:
      return unknown || op.bytes - 8 == send.bytes;
  }
}

TEST_CASE("content: first fragments find the sends that a search of all finds") {
  std::mt19937 random(2);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  JobBuilder builder(3);
  for (int i = 0; i < 600; ++i) {
    const UcpIndex send =
        builder.send(0, 1 + static_cast<int>(below(2)), below(3), 100 + below(4), below(1000));
    builder.ucp(send).buffer = 0x1000 * below(3);
    if (below(8) == 0) builder.ucp(send).flags |= log::UcpOperation::kUnknownLength;
    if (below(8) == 0) builder.ucp(send).peer_process = kNone;
  }
  std::vector<Rank> receivers;
  for (int i = 0; i < 900; ++i) {
    const int to = 1 + static_cast<int>(below(2));
    const auto at = static_cast<std::int64_t>(below(1500));
    const std::uint64_t tag = below(3), bytes = 100 + below(5);
    receivers.push_back(to);
    switch (below(3)) {
      case 0:
        builder.active_message(0, to, AmId::eager_only, 8 + bytes, at, {tag});
        break;
      case 1:
        builder.active_message(0, to, AmId::eager_first, 8000, at, {tag, bytes, 1});
        break;
      default:
        builder.active_message(0, to, AmId::rndv_rts, 54, at,
                               {tag, 1, 2, 0x1000 * below(4), bytes});
    }
  }
  attribute_transfers(builder.job);
  std::vector<bool> started(builder.job.ucp.size());
  std::size_t found = 0;
  for (std::size_t i = 0; i < builder.job.uct.size(); ++i) {
    const UctOp& op = builder.job.uct[i];
    UcpIndex expected;
    for (std::size_t s = 0; expected == kNone && s < started.size(); ++s) {
      if (!started[s] && fits(op, builder.job.ucp[s], receivers[i])) {
        expected = UcpIndex(s);
        started[s] = true;
        ++found;
      }
    }
    CHECK(op.serves == expected);
  }
  CHECK(found > 100);
  CHECK(found < 600);
}

TEST_CASE("50,000 first fragments that no send fits do not hold the merger up") {
  JobBuilder builder(2);
  constexpr int kCount = 50'000;
  for (int i = 0; i < kCount; ++i) {
    builder.send(0, 1, 7, 100, 1);
    const UcpIndex put = builder.one_sided(log::UcpFunction::put_nbx, 0, 1,
                                           0x10000 + 64 * static_cast<std::uint64_t>(i), 8, 1);
    CHECK(builder.ucp(put).match == Match::unmatched);
  }
  for (int i = 0; i < kCount; ++i) {
    builder.active_message(0, 1, AmId::eager_only, 8 + 99, 2, {7});
    builder.active_message(0, 1, AmId::rndv_rts, 54, 2, {7, 1, 2, 0x5000, 100});
    builder.memory_operation(0, 1, log::UctOp::put_short,
                             0x10000 + 64 * static_cast<std::uint64_t>(i) + 8, 8, 2);
  }
  attribute_transfers(builder.job);
  for (const UctOp& op : builder.job.uct) {
    REQUIRE(op.serves == kNone);
  }
}

TEST_CASE("200,000 messages of one key do not hold the merger up") {
  JobBuilder builder(2);
  constexpr std::uint64_t kCount = 200'000;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const UcpIndex send = builder.send(0, 1, 7, 8, i);
    builder.receive(1, 7, 8, i);
    builder.from_ucp(
        builder.active_message(0, 1, AmId::eager_only, 16, static_cast<std::int64_t>(i), {7}),
        send);
  }
  match_messages(builder.job);
  attribute_transfers(builder.job);
  build_rows(builder.job);
  CHECK(builder.job.run.messages.size() == kCount);
  for (const Message& m : builder.job.run.messages) {
    REQUIRE(m.match == Match::exact);
    REQUIRE(m.hops == 1);
  }
}

TEST_CASE("30,000 keys beside 30,000 open receives do not hold the merger up") {
  JobBuilder builder(2);
  constexpr std::uint64_t kCount = 30'000;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    builder.send(0, 1, i, 8, 10 * i);
    builder.send(0, 1, i, 8, 10 * i + 1);
    builder.receive(1, i, 8, 10 * i + 2);
    builder.open_receive(1, i % 2 == 0 ? i : kCount + i, ~std::uint64_t{0}, 10 * i + 1);
  }
  match_messages(builder.job);
  for (const UcpOp& op : builder.job.ucp) {
    if (op.received()) {
      REQUIRE(op.match == (op.tag % 2 == 0 ? Match::ambiguous : Match::exact));
    }
  }
}

}  // namespace
}  // namespace uctrace::merge

// Matching of streams compared with byte queues: each byte that a receive gets is the oldest one
// sent and not yet received.
#include <doctest/doctest.h>

#include <deque>
#include <random>

#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using log::UcpFunction;
using test::JobBuilder;

constexpr std::uint64_t kFirst = 0x5000, kSecond = 0x6000;  // endpoints
constexpr std::uint64_t kIndirectId = 0x25;                 // of one whose id is no address

struct StreamJob : JobBuilder {
  StreamJob() : JobBuilder(2) {
    for (int process = 0; process < 2; ++process) {
      log(process).workers.push_back({kWorker, 1, uid(process)});
    }
  }

  void endpoint(Rank process, std::uint64_t handle, std::uint64_t tick, bool peer_known = true) {
    log(process).ucp_endpoints.push_back({});
    UcpEndpoint& row = log(process).ucp_endpoints.back();
    row.handle = handle;
    row.tick = tick;
    row.remote_uid = peer_known ? uid(process.other()) : 0;
    row.worker = kWorker;
    sort_by_handle(log(process).ucp_endpoints);
  }

  UcpIndex stream_send(Rank process, std::uint64_t handle, std::uint64_t bytes,
                       std::uint64_t tick) {
    const UcpIndex index = flush(UcpFunction::stream_send_nbx, process, tick, tick);
    ucp(index).handle = handle;
    ucp(index).bytes = bytes;
    return index;
  }

  UcpIndex stream_receive(Rank process, std::uint64_t handle, std::uint64_t received,
                          std::uint64_t tick) {
    const UcpIndex index = flush(UcpFunction::stream_recv_nbx, process, tick, tick);
    ucp(index).handle = handle;
    ucp(index).received_bytes = received;
    return index;
  }

  // A fragment of a send, on its way to the endpoint that the receiver calls `id`.
  void fragment(UcpIndex send, std::uint64_t id, std::uint64_t bytes) {
    const UcpOp op = ucp(send);
    const UctIndex uct_op = active_message(op.process, Rank(op.process).other(),
                                           wire::AmId::stream_data, bytes + 8, op.start_ns, {id});
    uct(uct_op).serves = send;
  }
};

TEST_CASE("streams: what a queue of bytes gives each receive") {
  std::mt19937_64 random(20240611);
  for (int round = 0; round < 200; ++round) {
    StreamJob job;
    job.endpoint(0, kFirst, 2);
    job.endpoint(1, kSecond, 2);
    std::deque<std::size_t> bytes;  // of the stream, by the send they belong to
    std::vector<UcpIndex> sends, receives;
    std::vector<std::uint64_t> taken;  // by place in `sends`
    std::vector<UcpIndex> first_taker, last_taker;
    std::vector<UcpIndex> first_send;  // by place in `receives`
    for (std::uint64_t tick = 10; tick < 60; ++tick) {
      if (random() % 2 == 0) {
        const std::uint64_t length = 1 + random() % 20;
        sends.push_back(job.stream_send(0, kFirst, length, tick));
        bytes.insert(bytes.end(), length, sends.size() - 1);
        taken.push_back(0);
        first_taker.push_back(kNone);
        last_taker.push_back(kNone);
      } else if (!bytes.empty()) {
        const std::size_t length = 1 + random() % std::min<std::size_t>(bytes.size(), 30);
        const UcpIndex receive = job.stream_receive(1, kSecond, length, tick);
        receives.push_back(receive);
        first_send.push_back(sends[bytes.front()]);
        for (std::size_t i = 0; i < length; ++i) {
          const std::size_t send = bytes.front();
          bytes.pop_front();
          if (taken[send]++ == 0) first_taker[send] = receive;
          last_taker[send] = receive;
        }
      }
    }
    match_streams(job.job);
    for (std::size_t i = 0; i < sends.size(); ++i) {
      const UcpOp& send = job.ucp(sends[i]);
      const bool whole = taken[i] == send.bytes;
      CHECK(send.taken_bytes == taken[i]);
      CHECK(send.first_taker == first_taker[i]);
      CHECK(send.partner == (whole ? last_taker[i] : kNone));
      CHECK(send.match == (whole ? Match::exact : Match::unmatched));
    }
    for (std::size_t i = 0; i < receives.size(); ++i) {
      CHECK(job.ucp(receives[i]).partner == first_send[i]);
      CHECK(job.ucp(receives[i]).match == Match::exact);
    }
  }
}

// Two endpoints each between the same two workers: crossed by the ids, which go before the order.
TEST_CASE("streams: the id in the fragments names the receiving endpoint") {
  StreamJob job;
  for (int process = 0; process < 2; ++process) {
    job.endpoint(process, kFirst, 2);
    job.endpoint(process, kSecond, 3);
  }
  const UcpIndex a = job.stream_send(0, kFirst, 10, 10), b = job.stream_send(0, kSecond, 10, 11);
  job.fragment(a, kSecond, 10);
  job.fragment(b, kIndirectId, 10);
  const UcpIndex to_b = job.stream_receive(1, kFirst, 10, 20);
  const UcpIndex to_a = job.stream_receive(1, kSecond, 10, 21);
  job.ucp(to_b).ended_in = job.arrival(1, wire::AmId::stream_data, 20, {kIndirectId});
  match_streams(job.job);
  CHECK(job.ucp(a).partner == to_a);
  CHECK(job.ucp(b).partner == to_b);
  CHECK(job.ucp(a).match == Match::exact);
  CHECK(job.ucp(b).match == Match::exact);
}

TEST_CASE("streams: without ids, the k-th endpoint there belongs to the k-th here") {
  StreamJob job;
  job.endpoint(0, kFirst, 2);
  job.endpoint(0, kSecond, 3);
  job.endpoint(1, kSecond, 2);  // made in the other order
  job.endpoint(1, kFirst, 3);
  const UcpIndex a = job.stream_send(0, kFirst, 10, 10), b = job.stream_send(0, kSecond, 10, 11);
  const UcpIndex to_a = job.stream_receive(1, kSecond, 10, 20);
  const UcpIndex to_b = job.stream_receive(1, kFirst, 10, 21);
  match_streams(job.job);
  CHECK(job.ucp(a).partner == to_a);
  CHECK(job.ucp(b).partner == to_b);
  CHECK(job.ucp(a).match == Match::exact);
}

TEST_CASE("streams: the only ends that are left belong together, which is inferred") {
  StreamJob job;
  job.endpoint(0, kFirst, 2, false);
  job.endpoint(1, kSecond, 2, false);
  const UcpIndex send = job.stream_send(0, kFirst, 10, 10);
  const UcpIndex receive = job.stream_receive(1, kSecond, 10, 20);
  match_streams(job.job);
  CHECK(job.ucp(send).partner == receive);
  CHECK(job.ucp(send).match == Match::inferred);
}

TEST_CASE("streams: with two that fit, none is taken") {
  StreamJob job;
  job.endpoint(0, kFirst, 2, false);
  job.endpoint(1, kFirst, 2, false);
  job.endpoint(1, kSecond, 3, false);
  const UcpIndex send = job.stream_send(0, kFirst, 10, 10);
  const UcpIndex one = job.stream_receive(1, kFirst, 5, 20);
  const UcpIndex two = job.stream_receive(1, kSecond, 5, 21);
  match_streams(job.job);
  CHECK(job.ucp(send).match == Match::unmatched);
  CHECK(job.ucp(one).match == Match::unmatched);
  CHECK(job.ucp(two).match == Match::unmatched);
}

TEST_CASE("streams: the order of two threads is not known, nor what an open receive took") {
  for (const bool open : {false, true}) {
    StreamJob job;
    job.endpoint(0, kFirst, 2);
    job.endpoint(1, kSecond, 2);
    const UcpIndex send = job.stream_send(0, kFirst, 10, 10);
    const UcpIndex before = job.stream_receive(1, kSecond, 0, 20);
    const UcpIndex receive = job.stream_receive(1, kSecond, 10, 21);
    job.ucp(before).ended = !open;
    job.ucp(receive).lane = open ? 0 : 1;
    match_streams(job.job);
    CHECK(job.ucp(send).partner == receive);
    CHECK(job.ucp(send).match == Match::ambiguous);
  }
}

}  // namespace
}  // namespace uctrace::merge

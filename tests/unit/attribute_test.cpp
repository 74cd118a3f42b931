// Each step of the attribution of UCT operations, on jobs where only that step can find the answer.
#include <doctest/doctest.h>

#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using test::JobBuilder;
using wire::AmId;

void check_serves(JobBuilder& builder, UctIndex op, UcpIndex send, Link link) {
  CHECK(builder.uct(op).serves == send);
  CHECK(builder.uct(op).link == link);
}

void check_unattributed(JobBuilder& builder, UctIndex op) {
  CHECK(builder.uct(op).serves == kNone);
  CHECK(builder.uct(op).link == Link::unattributed);
}

TEST_CASE("origin: the UCP call that the shim saw") {
  JobBuilder builder(2);
  builder.send(0, 1, 7, 8, 1);
  const UcpIndex send = builder.send(0, 1, 7, 8, 2);
  const UctIndex op = builder.active_message(0, 1, AmId::eager_only, 16, 3, {7});
  builder.from_ucp(op, send);
  const UctIndex unknown = builder.active_message(0, 1, AmId::eager_only, 16, 3, {9});
  builder.uct(unknown).origin_kind = log::Origin::ucp;
  builder.uct(unknown).origin = 12345;  // its record was lost
  attribute_transfers(builder.job);
  check_serves(builder, op, send, Link::exact);
  check_unattributed(builder, unknown);
}

TEST_CASE("origin: operations that were not accepted are nobody's") {
  JobBuilder builder(2);
  const UcpIndex send = builder.send(0, 1, 7, 8, 2);
  const UctIndex op = builder.active_message(0, 1, AmId::eager_only, 16, 3, {7});
  builder.from_ucp(op, send);
  builder.uct(op).status = -2;  // UCS_ERR_NO_RESOURCE
  attribute_transfers(builder.job);
  check_unattributed(builder, op);
}

TEST_CASE("content: the first fragment of a send that waited for its connection") {
  JobBuilder builder(2);
  const UcpIndex first = builder.send(0, 1, 7, 8, 1), second = builder.send(0, 1, 7, 8, 2);
  const UcpIndex longer = builder.send(0, 1, 7, 9, 3);
  const UcpIndex later = builder.send(0, 1, 7, 10, 90);
  const UcpIndex announced = builder.send(0, 1, 8, 100000, 4);
  builder.ucp(announced).buffer = 0x5000;
  const UctIndex of_longer = builder.active_message(0, 1, AmId::eager_only, 8 + 9, 50, {7});
  const UctIndex of_first = builder.active_message(0, 1, AmId::eager_only, 8 + 8, 51, {7});
  const UctIndex of_second = builder.active_message(0, 1, AmId::eager_only, 8 + 8, 52, {7});
  const UctIndex of_none = builder.active_message(0, 1, AmId::eager_only, 8 + 8, 53, {7});
  const UctIndex too_early = builder.active_message(0, 1, AmId::eager_only, 8 + 10, 54, {7});
  const UctIndex rts =
      builder.active_message(0, 1, AmId::rndv_rts, 54, 55, {8, 1, 2, 0x5000, 100000});
  const UctIndex other =
      builder.active_message(0, 1, AmId::rndv_rts, 54, 56, {8, 1, 3, 0x6000, 100000});
  attribute_transfers(builder.job);
  check_serves(builder, of_longer, longer, Link::inferred);
  check_serves(builder, of_first, first, Link::inferred);
  check_serves(builder, of_second, second, Link::inferred);
  check_unattributed(builder, of_none);
  check_unattributed(builder, too_early);
  check_serves(builder, rts, announced, Link::inferred);
  check_unattributed(builder, other);
  for (const UctOp& op : builder.job.uct) CHECK(op.serves != later);  // it began after all of them
}

TEST_CASE("content: a send that has its first fragment gets no second one") {
  JobBuilder builder(2);
  const UcpIndex known = builder.send(0, 1, 7, 8, 1), waiting = builder.send(0, 1, 7, 8, 2);
  const UctIndex of_known = builder.active_message(0, 1, AmId::eager_only, 16, 3, {7});
  builder.from_ucp(of_known, known);
  const UctIndex of_waiting = builder.active_message(0, 1, AmId::eager_only, 16, 4, {7});
  attribute_transfers(builder.job);
  check_serves(builder, of_waiting, waiting, Link::inferred);
}

// A rendezvous from 0 to 1, its announcement known to serve the send.
struct Rendezvous {
  Rendezvous(JobBuilder& builder, Rank from, Rank to, std::uint64_t request, std::uint64_t tag,
             std::uint64_t tick)
      : send(builder.send(from, to, tag, 5000, tick)) {
    const auto at = static_cast<std::int64_t>(tick);
    builder.pair(send, builder.receive(to, tag, 5000, tick));
    const UctIndex rts = builder.active_message(from, to, AmId::rndv_rts, 54, at + 1,
                                                {tag, 1, request, 0x10000, 5000});
    builder.from_ucp(rts, send);
    announced = builder.arrival(to, AmId::rndv_rts, at + 2, {tag, 1, request, 0x10000, 5000});
  }
  UcpIndex send;
  log::Id announced;
};

TEST_CASE("arrival: what the handler of an announcement posts serves the announced send") {
  JobBuilder builder(2);
  const Rendezvous rndv(builder, 0, 1, 42, 7, 10);
  const UctIndex get = builder.memory_operation(1, 0, log::UctOp::get_zcopy, 0x10000, 5000, 13);
  builder.from_arrival(get, rndv.announced);
  attribute_transfers(builder.job);
  check_serves(builder, get, rndv.send, Link::exact);
}

TEST_CASE("arrival: equal announcements are told apart by their order") {
  JobBuilder builder(2);
  const Rendezvous first(builder, 0, 1, 42, 7, 10), second(builder, 0, 1, 42, 7, 20);
  const UctIndex of_second =
      builder.memory_operation(1, 0, log::UctOp::get_zcopy, 0x10000, 5000, 23);
  builder.from_arrival(of_second, second.announced);
  const UctIndex of_first =
      builder.memory_operation(1, 0, log::UctOp::get_zcopy, 0x10000, 5000, 24);
  builder.from_arrival(of_first, first.announced);
  attribute_transfers(builder.job);
  check_serves(builder, of_first, first.send, Link::exact);
  check_serves(builder, of_second, second.send, Link::exact);
}

TEST_CASE(
    "arrival: in a part of a run, an announcement to self belongs to the newest post before it") {
  JobBuilder builder(1);
  builder.log(0).clock =
      log::ClockFit(log::Clock::tsc, {{1, 1, 0}, {500'000, 500'010, 0}, {1'000'000, 1'000'000, 0}});
  REQUIRE(builder.log(0).clock.max_deviation_ns() == 10);
  builder.log(0).recorded.gaps.push_back({2000, 3000});
  // A tick after its post: the clock deviates by more.
  const Rendezvous first(builder, 0, 0, 42, 7, 10), second(builder, 0, 0, 42, 7, 1000);
  const UctIndex get = builder.memory_operation(0, 0, log::UctOp::get_zcopy, 0x10000, 5000, 1003);
  builder.from_arrival(get, second.announced);
  attribute_transfers(builder.job);
  check_serves(builder, get, second.send, Link::exact);
}

TEST_CASE("arrival: an answer to a remote request has a reason") {
  JobBuilder builder(2);
  const log::Id asked = builder.arrival(0, AmId::get_request, 1, {1});
  const UctIndex reply = builder.active_message(0, 1, AmId::get_reply, 100, 2, {1});
  builder.from_arrival(reply, asked);
  attribute_transfers(builder.job);
  CHECK(builder.uct(reply).link == Link::reason);
  CHECK(std::string(builder.uct(reply).reason) == "remote_request");
}

TEST_CASE("ids: fragments by message id, from the newest message that had it") {
  JobBuilder builder(2);
  UcpIndex sends[2];
  UctIndex middles[2];
  for (int i = 0; i < 2; ++i) {
    const std::int64_t at = 10 * (i + 1);
    sends[i] = builder.send(0, 1, 7, 65536, static_cast<std::uint64_t>(at));
    const UctIndex first =
        builder.active_message(0, 1, AmId::eager_first, 8256, at + 1, {7, 65536, 99});
    builder.from_ucp(first, sends[i]);
    middles[i] = builder.active_message(0, 1, AmId::eager_middle, 8256, at + 2, {99, 8232});
  }
  const UctIndex unknown = builder.active_message(0, 1, AmId::eager_middle, 8256, 40, {98, 8232});
  attribute_transfers(builder.job);
  check_serves(builder, middles[0], sends[0], Link::exact);
  check_serves(builder, middles[1], sends[1], Link::exact);
  check_unattributed(builder, unknown);
}

TEST_CASE("ids: two senders may choose the same request id") {
  JobBuilder builder(3);
  const Rendezvous from_0(builder, 0, 2, 42, 7, 10), from_1(builder, 1, 2, 42, 8, 20);
  const UctIndex to_0 = builder.active_message(2, 0, AmId::rndv_ats, 9, 30, {42});
  const UctIndex to_1 = builder.active_message(2, 1, AmId::rndv_ats, 9, 31, {42});
  attribute_transfers(builder.job);
  check_serves(builder, to_0, from_0.send, Link::exact);
  check_serves(builder, to_1, from_1.send, Link::exact);
}

TEST_CASE("ids: what is sent for an answered announcement names the receiver's request") {
  JobBuilder builder(2);
  const Rendezvous rndv(builder, 0, 1, 42, 7, 10);
  const UctIndex rtr =
      builder.active_message(1, 0, AmId::rndv_rtr, 54, 13, {42, 77, 0x900, 5000, 0});
  builder.arrival(0, AmId::rndv_rtr, 14, {42, 77, 0x900, 5000, 0});
  const UctIndex data = builder.active_message(0, 1, AmId::rndv_data, 5016, 15, {77, 0});
  const UctIndex end = builder.active_message(0, 1, AmId::rndv_atp, 9, 16, {77});
  attribute_transfers(builder.job);
  for (const UctIndex op : {rtr, data, end}) check_serves(builder, op, rndv.send, Link::exact);
}

TEST_CASE("ids: the acknowledgement of a synchronous send") {
  JobBuilder builder(2);
  const UcpIndex send = builder.send(0, 1, 7, 8, 1);
  const UctIndex post = builder.active_message(0, 1, AmId::eager_sync_only, 32, 2, {7, 1, 55});
  builder.from_ucp(post, send);
  builder.arrival(1, AmId::eager_sync_only, 3, {7, 1, 55});
  const UctIndex ack = builder.active_message(1, 0, AmId::eager_sync_ack, 9, 4, {55});
  attribute_transfers(builder.job);
  check_serves(builder, ack, send, Link::exact);
}

TEST_CASE("address: the range that was announced last, by that peer, for that direction") {
  JobBuilder builder(3);
  const Rendezvous older(builder, 0, 1, 42, 7, 10), newer(builder, 0, 1, 43, 8, 20);
  const Rendezvous of_other(builder, 2, 1, 44, 9, 30);  // with the same addresses
  const UctIndex early = builder.memory_operation(1, 0, log::UctOp::get_zcopy, 0x10000, 100, 15);
  const UctIndex late = builder.memory_operation(1, 0, log::UctOp::get_zcopy, 0x10000, 100, 40);
  const UctIndex from_2 = builder.memory_operation(1, 2, log::UctOp::get_zcopy, 0x10000, 100, 40);
  const UctIndex outside =
      builder.memory_operation(1, 0, log::UctOp::get_zcopy, 0x10000 + 4950, 100, 41);
  const UctIndex wrong_way =
      builder.memory_operation(1, 0, log::UctOp::put_zcopy, 0x10000, 100, 42);
  const UctIndex before = builder.memory_operation(1, 0, log::UctOp::get_zcopy, 0x10000, 100, 5);
  attribute_transfers(builder.job);
  check_serves(builder, early, older.send, Link::inferred);
  check_serves(builder, late, newer.send, Link::inferred);
  check_serves(builder, from_2, of_other.send, Link::inferred);
  check_unattributed(builder, outside);
  check_unattributed(builder, wrong_way);
  check_unattributed(builder, before);
}

TEST_CASE("reasons: connection set-up, flushes, and interfaces of the program itself") {
  JobBuilder builder(2);
  const UctIndex wireup = builder.active_message(0, 1, AmId::wireup, 100, 1, {});
  const UctIndex flush = builder.memory_operation(0, 1, log::UctOp::ep_flush, 0, 0, 2);
  Interface own;
  own.id = 2;
  builder.log(0).interfaces.push_back(own);
  const UctIndex direct = builder.active_message(0, 1, AmId::eager_only, 100, 3, {7});
  builder.uct(direct).interface = InterfaceIndex(1);
  attribute_transfers(builder.job);
  CHECK(std::string(builder.uct(wireup).reason) == "wireup");
  CHECK(std::string(builder.uct(flush).reason) == "internal_flush");
  CHECK(std::string(builder.uct(direct).reason) == "direct_uct");
}

}  // namespace
}  // namespace uctrace::merge

// How the merger handles the less common families of UCT operations: tag offload, staging, liveness
// checks, endpoints that are closed, lists of buffers, transfers that failed.
#include <doctest/doctest.h>

#include <numeric>

#include "log-merger/attribute/payload.hpp"
#include "log-merger/attribute/protocol.hpp"
#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using log::ArrivalKind;
using test::JobBuilder;
using wire::AmId;

constexpr std::uint64_t kTag = 0xabc, kBuffer = 0x10000, kLength = 5000, kEndpoint = 3,
                        kRequest = 9;

UctIndex operation(JobBuilder& builder, log::UctOp kind, std::uint64_t bytes, std::int64_t at_ns,
                   std::initializer_list<std::uint64_t> header = {}) {
  const UctIndex index = builder.memory_operation(0, 1, kind, 0, bytes, at_ns);
  for (const std::uint64_t word : header) {
    HeaderWords& to = builder.uct(index).header;
    to.words[to.count++] = word;
  }
  builder.uct(index).start_tick = static_cast<std::uint64_t>(at_ns);
  return index;
}

UctIndex rendezvous(JobBuilder& builder, log::UctOp kind, std::int64_t at_ns) {
  const UctIndex index =
      operation(builder, kind, kLength, at_ns, {kTag, kEndpoint, kRequest, kBuffer, kLength});
  builder.uct(index).am_id = static_cast<std::uint8_t>(AmId::rndv_rts);
  return index;
}

// An operation of process 1 in answer to the arrival.
UctIndex answer(JobBuilder& builder, log::Id arrival, log::UctOp kind, std::uint64_t remote,
                std::uint64_t bytes, std::int64_t at_ns) {
  const UctIndex index = builder.memory_operation(1, 0, kind, remote, bytes, at_ns);
  builder.from_arrival(index, arrival);
  return index;
}

std::uint64_t covered(JobBuilder& builder) {
  const std::vector<UctIndex> ops = builder.job.uct.indexes().list();
  find_payload(builder.job, ops);
  return covered_bytes(builder.job, ops);
}

std::string protocol(const JobBuilder& builder) {
  return derive_protocol(builder.job, nullptr, builder.job.uct.indexes().list(), kLength);
}

}  // namespace

TEST_CASE("tag offload: an eager message is its payload, and its answer serves it") {
  JobBuilder builder(2);
  const UcpIndex send = builder.send(0, 1, kTag, kLength, 10);
  const UctIndex op =
      operation(builder, log::UctOp::tag_eager_zcopy, kLength, 11, {kTag, kEndpoint});
  builder.from_ucp(op, send);
  const log::Id arrival = builder.arrival(1, AmId{}, 20, {kTag, kEndpoint});
  builder.job.arrivals.back().kind = ArrivalKind::tag_matched;
  const UctIndex ack = builder.active_message(1, 0, AmId::offload_sync_ack, 16, 21, {3, kTag});
  builder.from_arrival(ack, arrival);
  attribute_transfers(builder.job);
  CHECK(builder.uct(ack).serves == send);
  CHECK(builder.uct(ack).link == Link::exact);
  CHECK(covered(builder) == kLength);
  CHECK(protocol(builder) == "offload-sync/zcopy");
}

TEST_CASE("tag offload: a rendezvous that the interfaces carry out") {
  JobBuilder builder(2);
  const UcpIndex send = builder.send(0, 1, kTag, kLength, 10);
  builder.from_ucp(rendezvous(builder, log::UctOp::tag_rndv_zcopy, 11), send);
  attribute_transfers(builder.job);
  CHECK(covered(builder) == kLength);
  CHECK(role_of(builder.uct(UctIndex(0))) == Role::data);
  CHECK(protocol(builder) == "rndv/offload/zcopy");
}

TEST_CASE("tag offload: an unexpected rendezvous is fetched by the receiver and then cancelled") {
  JobBuilder builder(2);
  const UcpIndex send = builder.send(0, 1, kTag, kLength, 10);
  const UctIndex op = rendezvous(builder, log::UctOp::tag_rndv_zcopy, 11);
  builder.from_ucp(op, send);
  const log::Id arrival =
      builder.arrival(1, AmId::rndv_rts, 20, {kTag, kEndpoint, kRequest, kBuffer, kLength});
  builder.job.arrivals.back().kind = ArrivalKind::tag_rndv_unexpected;
  const UctIndex fetch = answer(builder, arrival, log::UctOp::get_zcopy, kBuffer, kLength, 21);
  const log::Id ats = builder.arrival(0, AmId::rndv_ats, 30, {kRequest});
  const UctIndex cancel = operation(builder, log::UctOp::tag_rndv_cancel, 0, 31);
  builder.from_arrival(cancel, ats);
  builder.uct(op).status = 1;
  builder.uct(op).end_status = -16;
  attribute_transfers(builder.job);
  CHECK(builder.uct(fetch).serves == send);
  CHECK(builder.uct(fetch).link == Link::exact);
  CHECK(builder.uct(cancel).serves == send);
  CHECK(covered(builder) == kLength);
  CHECK(payload_bytes(builder.uct(op)) == 0);
  CHECK(role_of(builder.uct(op)) == Role::control);
  CHECK(protocol(builder) == "rndv/get/zcopy");
}

// Persistent requests announce each of their messages identically.
TEST_CASE("tag offload: what the interfaces carried out is not announced to the receiver's UCP") {
  JobBuilder builder(2);
  const UcpIndex first = builder.send(0, 1, kTag, kLength, 10);
  const UctIndex taken = rendezvous(builder, log::UctOp::tag_rndv_zcopy, 11);
  builder.from_ucp(taken, first);
  builder.uct(taken).complete_ns = 13;
  const UcpIndex second = builder.send(0, 1, kTag, kLength, 20);
  const UctIndex announced = rendezvous(builder, log::UctOp::tag_rndv_zcopy, 21);
  builder.from_ucp(announced, second);
  builder.uct(announced).end_status = -16;  // cancelled
  const log::Id arrival =
      builder.arrival(1, AmId::rndv_rts, 22, {kTag, kEndpoint, kRequest, kBuffer, kLength});
  builder.job.arrivals.back().kind = ArrivalKind::tag_rndv_unexpected;
  const UctIndex fetch = answer(builder, arrival, log::UctOp::get_zcopy, kBuffer, kLength, 23);
  attribute_transfers(builder.job);
  CHECK(builder.uct(fetch).serves == second);
}

TEST_CASE("a transfer that ended in an error carries nothing") {
  JobBuilder builder(2);
  const UcpIndex put = builder.one_sided(log::UcpFunction::put_nbx, 0, 1, kBuffer, kLength, 10);
  const UctIndex op = builder.memory_operation(0, 1, log::UctOp::put_zcopy, kBuffer, kLength, 11);
  builder.from_ucp(op, put);
  attribute_transfers(builder.job);
  CHECK(covered(builder) == kLength);
  builder.uct(op).end_status = -25;
  CHECK(covered(builder) == 0);
}

TEST_CASE("lists of buffers follow each other") {
  JobBuilder builder(2);
  const UcpIndex put = builder.one_sided(log::UcpFunction::put_nbx, 0, 1, kBuffer, 300, 10);
  const UcpIndex get = builder.one_sided(log::UcpFunction::get_nbx, 0, 1, kBuffer, 100, 20);
  for (const std::int64_t at : {11, 12}) {
    builder.from_ucp(operation(builder, log::UctOp::put_sgl_zcopy, 150, at), put);
    builder.from_ucp(operation(builder, log::UctOp::get_sgl_zcopy, 50, at + 10), get);
  }
  attribute_transfers(builder.job);
  CHECK(covered(builder) == 400);
}

TEST_CASE("staging serves what the operation around it serves, and is no payload") {
  JobBuilder builder(2);
  const UcpIndex send = builder.send(0, 1, kTag, kLength, 10);
  const UctIndex staging = operation(builder, log::UctOp::get_short, kLength, 11);
  const UctIndex outer = builder.active_message(0, 1, AmId::eager_only, kLength + 8, 11, {kTag});
  builder.from_ucp(outer, send);
  builder.uct(staging).staging = true;
  builder.uct(staging).parent_id = builder.uct(outer).id = 77;
  builder.log(0).uct_by_id.set(77, outer);
  attribute_transfers(builder.job);
  CHECK(builder.uct(staging).serves == send);
  CHECK(builder.uct(staging).link == Link::exact);
  CHECK(role_of(builder.uct(staging)) == Role::staging);
  CHECK(covered(builder) == kLength);
  CHECK(payload_bytes(builder.uct(staging)) == 0);
}

TEST_CASE("staging inside an operation that was refused keeps its own origin") {
  JobBuilder builder(2);
  const UcpIndex send = builder.send(0, 1, kTag, kLength, 10);
  const UctIndex staging = operation(builder, log::UctOp::get_short, kLength, 11);
  builder.uct(staging).staging = true;
  builder.uct(staging).parent_id = 78;
  builder.from_ucp(staging, send);
  attribute_transfers(builder.job);
  CHECK(builder.uct(staging).serves == send);
}

TEST_CASE("what a handler copies out of an answer serves what was asked for") {
  JobBuilder builder(2);
  const UcpIndex get = builder.one_sided(log::UcpFunction::get_nbx, 0, 1, 0x1000, kLength, 1);
  const UctIndex request =
      builder.active_message(0, 1, wire::AmId::get_request, 36, 3, {0x1000, kLength, 7, 41});
  builder.from_ucp(request, get);
  builder.arrival(1, wire::AmId::get_request, 5, {0x1000, kLength, 7, 41});
  builder.active_message(1, 0, wire::AmId::get_reply, kLength + 16, 7, {41, 0});
  const log::Id answer = builder.arrival(0, wire::AmId::get_reply, 8, {41, 0});
  const UctIndex copy = builder.memory_operation(0, 0, log::UctOp::put_short, 0x2000, kLength, 9);
  builder.uct(copy).staging = true;
  builder.from_arrival(copy, answer);
  attribute_transfers(builder.job);
  CHECK(builder.uct(copy).serves == get);
  CHECK(builder.uct(copy).link == Link::exact);
}

// A sender that cannot read its data keeps no digest of it; the receiver has one of the arrived
// data.
TEST_CASE("a digest that one side lacks tells no messages apart") {
  constexpr std::uint64_t kWord = 5 | std::uint64_t{8} << 32;
  for (const bool sender_has_it : {true, false}) {
    JobBuilder builder(2);
    std::vector<UcpIndex> sends;
    std::vector<UctIndex> copies;
    for (const std::uint64_t digest : {70u, 71u}) {
      const auto at = static_cast<std::int64_t>(digest);
      const UcpIndex send = builder.active_send(0, 1, 5, 8, kLength, digest);
      const UctIndex post =
          sender_has_it
              ? builder.active_message(0, 1, wire::AmId::am_single, kLength, at, {kWord, digest})
              : builder.active_message(0, 1, wire::AmId::am_single, kLength, at, {kWord});
      builder.from_ucp(post, send);
      sends.push_back(send);
    }
    // Where both have the digest the order does not matter.
    const std::uint64_t first = sender_has_it ? 71 : 70;
    for (const std::uint64_t digest : {first, 141 - first}) {
      const auto at = static_cast<std::int64_t>(sender_has_it ? 300 - digest : 100 + digest);
      const log::Id arrival = builder.arrival(1, wire::AmId::am_single, at, {kWord, digest});
      const UctIndex copy =
          builder.memory_operation(1, 1, log::UctOp::put_short, 0x2000, kLength, at + 1);
      builder.uct(copy).staging = true;
      builder.from_arrival(copy, arrival);
      copies.push_back(copy);
    }
    attribute_transfers(builder.job);
    if (sender_has_it) std::swap(copies[0], copies[1]);
    for (std::size_t i = 0; i < 2; ++i) {
      CAPTURE(sender_has_it);
      CHECK(builder.uct(copies[i]).serves == sends[i]);
      CHECK(builder.uct(copies[i]).link == Link::exact);
    }
  }
}

TEST_CASE("what stays in its process, for data that leave it, is staging") {
  for (const int receiver : {0, 1}) {
    JobBuilder builder(2);
    const UcpIndex send = builder.send(0, receiver, kTag, kLength, 10);
    const UctIndex copy = builder.memory_operation(0, 0, log::UctOp::get_zcopy, 0, kLength, 11);
    builder.from_ucp(copy, send);
    attribute_transfers(builder.job);
    CHECK(builder.uct(copy).staging == (receiver == 1));
  }
}

namespace {

constexpr std::uint64_t kFragment = 0x77;  // the receiver's name for a request, used again

// An interface of process 1 that copies to the memory of a GPU.
void add_copies(JobBuilder& builder) {
  Interface copies;
  copies.id = 2;
  copies.of_ucp = true;
  copies.device_type = log::DeviceType::accelerator;
  builder.log(1).interfaces.push_back(copies);
}

}  // namespace

TEST_CASE("copies out of a message that arrived serve it") {
  JobBuilder builder(2);
  add_copies(builder);
  const UcpIndex first = builder.send(0, 1, kTag, kLength, 10);
  const UcpIndex second = builder.send(0, 1, kTag, kLength, 12);
  for (const UcpIndex send : {first, second}) {
    const UctIndex op =
        builder.active_message(0, 1, AmId::eager_only, kLength + 8, 11 + 2 * send.number(), {kTag});
    builder.from_ucp(op, send);
  }
  builder.arrival(1, AmId::eager_only, 20, {kTag});
  const log::Id arrival = builder.arrival(1, AmId::eager_only, 21, {kTag});
  const UctIndex copy = builder.memory_operation(1, 1, log::UctOp::put_short, kBuffer, kLength, 22);
  builder.uct(copy).interface = InterfaceIndex(1);
  builder.from_arrival(copy, arrival);
  attribute_transfers(builder.job);
  CHECK(builder.uct(copy).serves == second);
  CHECK(builder.uct(copy).link == Link::exact);
  CHECK(role_of(builder.uct(copy)) == Role::staging);
}

TEST_CASE(
    "copies out of fragments of two senders, to whom the receiver gave one id after the other") {
  JobBuilder builder(3);
  add_copies(builder);
  std::vector<UcpIndex> sends;
  std::vector<UctIndex> copies;
  for (const int from : {0, 2}) {
    const std::int64_t at = 10 + 100 * from;
    sends.push_back(builder.send(from, 1, kTag + from, kLength, at));
    const auto header = {kTag + from, kEndpoint, kRequest, kBuffer, kLength};
    builder.from_ucp(builder.active_message(from, 1, AmId::rndv_rts, 50, at, header), sends.back());
    const log::Id announced = builder.arrival(1, AmId::rndv_rts, at + 1, header);
    builder.from_arrival(builder.active_message(1, from, AmId::rndv_rtr, 50, at + 1,
                                                {kRequest, kFragment, kBuffer, kLength, 0}),
                         announced);
    const UctIndex atp = builder.active_message(from, 1, AmId::rndv_atp, 17, at + 2, {kFragment});
    builder.from_ucp(atp, sends.back());
    const log::Id arrival = builder.arrival(1, AmId::rndv_atp, at + 3, {kFragment});
    copies.push_back(
        builder.memory_operation(1, 1, log::UctOp::put_zcopy, kBuffer, kLength, at + 4));
    builder.uct(copies.back()).interface = InterfaceIndex(1);
    builder.from_arrival(copies.back(), arrival);
  }
  attribute_transfers(builder.job);
  for (const std::size_t i : {0, 1}) {
    CHECK(builder.uct(copies[i]).serves == sends[i]);
    CHECK(builder.uct(copies[i]).link == Link::exact);
  }
}

TEST_CASE("a copy into memory of the receiver that both have mapped carries the data") {
  for (const bool with_put : {false, true}) {
    JobBuilder builder(2);
    const UcpIndex send = builder.send(0, 1, kTag, kLength, 10);
    builder.ucp(send).buffer = kBuffer;
    builder.uct(rendezvous(builder, log::UctOp::am_bcopy, 11)).serves = send;
    const UctIndex rtr = builder.active_message(1, 0, AmId::rndv_rtr, 50, 12,
                                                {kRequest, kFragment, 2 * kBuffer, kLength, 0});
    const UctIndex copy =
        builder.memory_operation(0, 0, log::UctOp::get_zcopy, kBuffer, kLength, 13);
    builder.uct(copy).staging = true;
    builder.uct(rtr).serves = builder.uct(copy).serves = send;
    if (with_put) {
      const UctIndex put =
          builder.memory_operation(0, 1, log::UctOp::put_zcopy, 2 * kBuffer, kLength, 14);
      builder.uct(put).serves = send;
    }
    CHECK(covered(builder) == kLength);
    CHECK(role_of(builder.uct(copy)) == (with_put ? Role::staging : Role::data));
    const std::vector<UctIndex> ops = builder.job.uct.indexes().list();
    CHECK(derive_protocol(builder.job, &builder.ucp(send), ops, kLength) ==
          (with_put ? "rndv/put/zcopy" : "rndv/put/mapped"));
  }
}

TEST_CASE("a copy from buffer to buffer carries what a process sends to itself") {
  constexpr std::uint64_t kReceived = 5 * kBuffer, kElsewhere = 9 * kBuffer;
  for (const bool by_put : {false, true}) {
    for (const bool to_buffer : {false, true}) {
      JobBuilder builder(1);
      const UcpIndex send = builder.send(0, 0, kTag, kLength, 10);
      const UcpIndex receive = builder.receive(0, kTag, kLength, 10);
      builder.pair(send, receive);
      builder.ucp(send).buffer = kBuffer;
      builder.ucp(receive).buffer = kReceived;
      builder.ucp(receive).bytes = kLength;
      const UctIndex rts = builder.active_message(0, 0, AmId::rndv_rts, 54, 11,
                                                  {kTag, kEndpoint, kRequest, kBuffer, kLength});
      const std::uint64_t target = to_buffer ? kReceived : kElsewhere;
      const log::UctOp kind = by_put ? log::UctOp::put_zcopy : log::UctOp::get_zcopy;
      const UctIndex copy =
          builder.memory_operation(0, 0, kind, by_put ? target : kBuffer, kLength, 12);
      builder.uct(copy).local = by_put ? kBuffer : target;
      builder.uct(copy).staging = true;
      builder.uct(rts).serves = builder.uct(copy).serves = send;
      CHECK(covered(builder) == (to_buffer ? kLength : 0));
      CHECK(role_of(builder.uct(copy)) == (to_buffer ? Role::data : Role::staging));
      if (to_buffer) {
        CHECK(derive_protocol(builder.job, &builder.ucp(send), std::vector<UctIndex>{rts, copy},
                              kLength) == (by_put ? "rndv/put/zcopy" : "rndv/get/zcopy"));
      }
    }
  }
}

TEST_CASE("reasons: keepalive, and endpoints that are given up") {
  JobBuilder builder(2);
  const UctIndex check = operation(builder, log::UctOp::ep_check, 0, 10);
  const UctIndex by_message =
      builder.active_message(0, 1, AmId::wireup, 40, 11, {0x300 | wire::kWireupEndpointCheck});
  const UctIndex connecting = builder.active_message(0, 1, AmId::wireup, 40, 12, {0x301});
  const UctIndex cancels = operation(builder, log::UctOp::ep_flush, 0, 13, {1});
  const UctIndex earlier = operation(builder, log::UctOp::ep_flush, 0, 14);
  const UctIndex last = operation(builder, log::UctOp::ep_flush, 0, 15);
  builder.log(0).endpoints[0].destroyed_tick = 20;
  attribute_transfers(builder.job);
  const auto reason = [&](UctIndex op) { return std::string(builder.uct(op).reason); };
  CHECK(reason(check) == "keepalive");
  CHECK(reason(by_message) == "keepalive");
  CHECK(reason(connecting) == "wireup");
  CHECK(reason(cancels) == "endpoint_discard");
  CHECK(reason(earlier) == "internal_flush");
  CHECK(reason(last) == "endpoint_discard");
}

TEST_CASE("reasons: an endpoint that is given up while the program flushes or closes") {
  JobBuilder builder(2);
  const UcpIndex flush = builder.flush(log::UcpFunction::ep_flush_nbx, 0, 5, 100);
  const UctIndex asked = operation(builder, log::UctOp::ep_flush, 0, 14);
  builder.from_ucp(asked, flush);
  const UctIndex last = operation(builder, log::UctOp::ep_flush, 0, 15);  // nobody asked
  builder.log(0).endpoints[0].destroyed_tick = 20;
  attribute_transfers(builder.job);
  CHECK(builder.uct(asked).serves == flush);
  CHECK(std::string(builder.uct(last).reason) == "endpoint_discard");
}

}  // namespace uctrace::merge

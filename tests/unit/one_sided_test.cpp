// One-sided operations, active messages and flushes: which operations their transfers serve, which
// part of them they carry, and which handler got which message.
#include <doctest/doctest.h>

#include "log-merger/attribute/payload.hpp"
#include "log-merger/attribute/protocol.hpp"
#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using log::UcpFunction;
using test::JobBuilder;
using wire::AmId;
using Ops = std::vector<UctIndex>;

void check_serves(JobBuilder& builder, UctIndex op, UcpIndex served, Link link) {
  CHECK(builder.uct(op).serves == served);
  CHECK(builder.uct(op).link == link);
}

void check_reason(JobBuilder& builder, UctIndex op, const std::string& reason) {
  CHECK(builder.uct(op).serves == kNone);
  CHECK(builder.uct(op).link == Link::reason);
  CHECK(builder.uct(op).reason == reason);
}

TEST_CASE("emulated put: the target's completion serves the put whose request it answers") {
  JobBuilder builder(2);
  const UcpIndex first = builder.one_sided(UcpFunction::put_nbx, 0, 1, 0x1000, 8, 1);
  const UcpIndex second = builder.one_sided(UcpFunction::put_nbx, 0, 1, 0x1000, 8, 2);
  for (const UcpIndex put : {first, second}) {
    const UctIndex request =
        builder.active_message(0, 1, AmId::put, 28, 3 + put.number(), {0x1000, 7});
    builder.from_ucp(request, put);
  }
  const log::Id of_first = builder.arrival(1, AmId::put, 10, {0x1000, 7});
  const log::Id of_second = builder.arrival(1, AmId::put, 11, {0x1000, 7});
  const UctIndex answer_to_second = builder.active_message(1, 0, AmId::completion, 8, 12, {3});
  builder.from_arrival(answer_to_second, of_second);
  const UctIndex answer_to_first = builder.active_message(1, 0, AmId::completion, 8, 13, {3});
  builder.from_arrival(answer_to_first, of_first);
  attribute_transfers(builder.job);
  check_serves(builder, answer_to_first, first, Link::exact);
  check_serves(builder, answer_to_second, second, Link::exact);
}

TEST_CASE("emulated get and fetch: replies queued at the target are tied by their request id") {
  JobBuilder builder(2);
  const UcpIndex get = builder.one_sided(UcpFunction::get_nbx, 0, 1, 0x1000, 100, 1);
  const UcpIndex fetch = builder.one_sided(UcpFunction::atomic_fetch_nb, 0, 1, 0x2000, 8, 2);
  builder.from_ucp(builder.active_message(0, 1, AmId::get_request, 36, 3, {0x1000, 100, 7, 41}),
                   get);
  builder.from_ucp(builder.active_message(0, 1, AmId::atomic_request, 34, 4, {0x2000, 7, 42}),
                   fetch);
  builder.arrival(1, AmId::get_request, 5, {0x1000, 100, 7, 41});
  builder.arrival(1, AmId::atomic_request, 6, {0x2000, 7, 42});
  const UctIndex data = builder.active_message(1, 0, AmId::get_reply, 116, 7, {41, 0});
  const UctIndex result = builder.active_message(1, 0, AmId::atomic_reply, 16, 8, {42});
  const UctIndex unknown = builder.active_message(1, 0, AmId::get_reply, 116, 9, {43, 0});
  const UctIndex completion = builder.active_message(1, 0, AmId::completion, 8, 9, {3});
  attribute_transfers(builder.job);
  check_serves(builder, data, get, Link::exact);
  check_serves(builder, result, fetch, Link::exact);
  check_reason(builder, unknown, "remote_request");
  check_reason(builder, completion, "remote_request");
}

TEST_CASE("queued: all fragments of a put that waited for its connection") {
  JobBuilder builder(2);
  const UcpIndex put = builder.one_sided(UcpFunction::put_nb, 0, 1, 0x1000, 200, 1);
  const UcpIndex next = builder.one_sided(UcpFunction::put_nb, 0, 1, 0x1000, 200, 2);
  const auto fragment = [&](std::uint64_t offset, std::int64_t at) {
    return builder.active_message(0, 1, AmId::put, 120, at, {0x1000 + offset, 7});
  };
  const UctIndex a = fragment(0, 5), b = fragment(100, 6), c = fragment(0, 7), d = fragment(100, 8);
  const UctIndex outside = fragment(150, 9);
  const UctIndex native = builder.memory_operation(0, 1, log::UctOp::get_bcopy, 0x1000, 200, 9);
  attribute_transfers(builder.job);
  check_serves(builder, a, put, Link::inferred);
  check_serves(builder, b, put, Link::inferred);
  check_serves(builder, c, next, Link::inferred);
  check_serves(builder, d, next, Link::inferred);
  CHECK(builder.uct(outside).link == Link::unattributed);
  CHECK(builder.uct(native).link == Link::unattributed);  // it fetches, and nobody gets
}

TEST_CASE("queued: an active message in fragments, also between endpoints with failover") {
  for (const auto& [first_id, middle_id] :
       {std::pair{AmId::am_first, AmId::am_middle}, {AmId::am_first_psn, AmId::am_middle_psn}}) {
    JobBuilder builder(2);
    const UcpIndex send = builder.active_send(0, 1, 5, 16, 316, 1);
    const std::uint64_t header = 5 | std::uint64_t{16} << 32;
    const UctIndex first = builder.active_message(0, 1, first_id, 32 + 116, 2, {header});
    const UctIndex middle = builder.active_message(0, 1, middle_id, 24 + 200, 3, {100});
    const UctIndex other =
        builder.active_message(0, 1, AmId::am_single, 8 + 316, 4, {6 | std::uint64_t{16} << 32});
    attribute_transfers(builder.job);
    check_serves(builder, first, send, Link::inferred);
    check_serves(builder, middle, send, Link::inferred);
    CHECK(builder.uct(other).link == Link::unattributed);
    find_payload(builder.job, Ops{first, middle});
    CHECK(covered_bytes(builder.job, Ops{first, middle}) == 316);
    CHECK(derive_protocol(builder.job, &builder.ucp(send), Ops{first, middle}, 316) ==
          "am/eager/multi/bcopy");
  }
}

TEST_CASE("flush: it serves the UCP flush that posted it or that is in progress") {
  JobBuilder builder(2);
  const UcpIndex blocking = builder.flush(UcpFunction::worker_flush, 0, 10, 20);
  const UctIndex inside = builder.memory_operation(0, 1, log::UctOp::ep_flush, 0, 0, 12);
  builder.from_ucp(inside, blocking);
  const UctIndex from_progress = builder.memory_operation(0, 1, log::UctOp::iface_flush, 0, 0, 15);
  const UctIndex later = builder.memory_operation(0, 1, log::UctOp::ep_flush, 0, 0, 25);
  const UctIndex elsewhere = builder.memory_operation(1, 0, log::UctOp::ep_flush, 0, 0, 15);
  // Progress inside a blocking flush posts for others, too.
  const UcpIndex send = builder.send(0, 1, 7, 8, 5);
  const UctIndex waited = builder.active_message(0, 1, AmId::eager_only, 16, 13, {7});
  builder.from_ucp(waited, blocking);
  builder.uct(waited).route = log::Route::blocking;
  attribute_transfers(builder.job);
  check_serves(builder, inside, blocking, Link::exact);
  check_serves(builder, from_progress, blocking, Link::inferred);
  check_reason(builder, later, "internal_flush");
  check_reason(builder, elsewhere, "internal_flush");
  check_serves(builder, waited, send, Link::inferred);
}

TEST_CASE("request: what came back by the address of its request must be of its operation") {
  JobBuilder builder(2);
  const auto comes_back = [&](UctIndex op, UcpIndex served) {
    builder.from_ucp(op, served);
    builder.uct(op).route = log::Route::request;
    return op;
  };
  const UcpIndex put = builder.one_sided(UcpFunction::put_nbx, 0, 1, 0x1000, 300, 1);
  builder.ucp(put).end_ns = 40;
  const UctIndex part =
      comes_back(builder.memory_operation(0, 1, log::UctOp::put_zcopy, 0x1064, 200, 30), put);
  const UctIndex beyond =
      comes_back(builder.memory_operation(0, 1, log::UctOp::put_zcopy, 0x1064, 201, 31), put);
  const UcpIndex send = builder.send(0, 1, 7, 8, 5);
  const UctIndex first =
      comes_back(builder.active_message(0, 1, AmId::eager_only, 16, 32, {7}), send);
  const UctIndex other =
      comes_back(builder.active_message(0, 1, AmId::eager_only, 16, 33, {8}), send);
  const UcpIndex ended = builder.flush(UcpFunction::ep_flush_nbx, 0, 10, 20);
  const UctIndex late =
      comes_back(builder.memory_operation(0, 1, log::UctOp::ep_flush, 0, 0, 34), ended);
  attribute_transfers(builder.job);
  check_serves(builder, part, put, Link::exact);
  CHECK(builder.uct(beyond).link != Link::exact);
  check_serves(builder, first, send, Link::exact);
  CHECK(builder.uct(other).link != Link::exact);
  check_reason(builder, late, "internal_flush");
}

TEST_CASE("payload: the parts of one-sided operations") {
  JobBuilder builder(2);
  const UcpIndex put = builder.one_sided(UcpFunction::put_nbx, 0, 1, 0x1000, 300, 1);
  const UctIndex short_part = builder.memory_operation(0, 1, log::UctOp::put_short, 0x1000, 100, 2);
  const UctIndex rest = builder.memory_operation(0, 1, log::UctOp::put_zcopy, 0x1064, 200, 3);
  const UcpIndex get = builder.one_sided(UcpFunction::get_nbx, 0, 1, 0x9000, 50, 4);
  const UctIndex request =
      builder.active_message(0, 1, AmId::get_request, 36, 5, {0x9000, 50, 7, 1});
  const UctIndex reply = builder.active_message(1, 0, AmId::get_reply, 66, 6, {1, 0});
  const UcpIndex fetch = builder.one_sided(UcpFunction::atomic_op_nbx, 0, 1, 0x2000, 8, 7);
  builder.ucp(fetch).reply_buffer = 0x5000;
  const UctIndex compare =
      builder.active_message(0, 1, AmId::atomic_request, 42, 8, {0x2000, 7, 2});
  for (const UctIndex op : {short_part, rest}) builder.uct(op).serves = put;
  for (const UctIndex op : {request, reply}) builder.uct(op).serves = get;
  builder.uct(compare).serves = fetch;
  const auto covered = [&](const std::vector<UctIndex>& ops) {
    find_payload(builder.job, ops);
    return covered_bytes(builder.job, ops);
  };
  CHECK(covered({short_part, rest}) == 300);
  CHECK(covered({rest}) == 200);
  CHECK(covered({request, reply}) == 50);
  CHECK(covered({request}) == 0);
  CHECK(covered({compare}) == 8);
  CHECK(role_of(builder.uct(request)) == Role::control);
  CHECK(role_of(builder.uct(reply)) == Role::data);
  CHECK(derive_protocol(builder.job, &builder.ucp(get), Ops{request, reply}, 50) == "get/am/bcopy");
  CHECK(derive_protocol(builder.job, &builder.ucp(fetch), Ops{compare}, 8) == "amo/fetch/sw");
}

TEST_CASE("payload: an announcement carries the header of an active message") {
  JobBuilder builder(2);
  const UcpIndex send = builder.active_send(0, 1, 5, 16, 1016, 1);
  const UctIndex rts = builder.active_message(0, 1, AmId::rndv_rts, 60, 2,
                                              {5 | std::uint64_t{16} << 32, 1, 2, 0x5000, 1000});
  const UctIndex get = builder.memory_operation(1, 0, log::UctOp::get_zcopy, 0x5000, 1000, 3);
  for (const UctIndex op : {rts, get}) builder.uct(op).serves = send;
  find_payload(builder.job, Ops{rts, get});
  CHECK(covered_bytes(builder.job, Ops{rts, get}) == 1016);
  CHECK(derive_protocol(builder.job, &builder.ucp(send), Ops{rts, get}, 1016) ==
        "am/rndv/get/zcopy");
}

TEST_CASE("match: an active message reaches a handler of its id and length") {
  JobBuilder builder(2);
  const UcpIndex small = builder.active_send(0, 1, 5, 0, 8, 1);
  const UcpIndex large = builder.active_send(0, 1, 5, 0, 80, 2);
  const UcpIndex lost = builder.active_send(0, 1, 6, 0, 8, 3);
  const UcpIndex got_large = builder.handler_call(1, 5, 0, 80, 10);
  const UcpIndex got_small = builder.handler_call(1, 5, 0, 8, 11);
  const UcpIndex put = builder.one_sided(UcpFunction::put_nbi, 0, 1, 0x1000, 8, 4);
  match_messages(builder.job);
  CHECK(builder.ucp(small).partner == got_small);
  CHECK(builder.ucp(large).partner == got_large);
  CHECK(builder.ucp(large).match == Match::exact);
  CHECK(builder.ucp(lost).match == Match::unmatched);
  CHECK(builder.ucp(put).match == Match::exact);
}

TEST_CASE("match: equal active messages of two senders are ambiguous") {
  JobBuilder builder(3);
  const UcpIndex a = builder.active_send(0, 2, 5, 0, 8, 1),
                 b = builder.active_send(1, 2, 5, 0, 8, 2);
  builder.handler_call(2, 5, 0, 8, 10);
  builder.handler_call(2, 5, 0, 8, 11);
  match_messages(builder.job);
  CHECK(builder.ucp(a).match == Match::ambiguous);
  CHECK(builder.ucp(b).match == Match::ambiguous);
}

}  // namespace
}  // namespace uctrace::merge

// Which bytes of a message its transfers carry, and the protocol that they imply.
#include "log-merger/attribute/payload.hpp"

#include <doctest/doctest.h>

#include "log-merger/attribute/protocol.hpp"
#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using test::JobBuilder;
using wire::AmId;

std::vector<UctIndex> all_of(const Job& job) { return job.uct.indexes().list(); }

std::uint64_t covered(JobBuilder& builder) {
  find_payload(builder.job, all_of(builder.job));
  return covered_bytes(builder.job, all_of(builder.job));
}

std::string protocol(JobBuilder& builder, std::uint64_t bytes) {
  find_payload(builder.job, all_of(builder.job));
  return derive_protocol(builder.job, nullptr, all_of(builder.job), bytes);
}

// UCX 1.13, protocols v1, 64 KiB over posix: one fragment more than fit, with their headers.
void add_64k_over_posix(JobBuilder& builder) {
  constexpr std::uint64_t kFragment = 8256, kLast = 7880, kFirstHeader = 24, kHeader = 16;
  builder.active_message(0, 1, AmId::eager_first, kFragment, 1, {7, 65536, 99});
  std::uint64_t offset = kFragment - kFirstHeader;
  for (int i = 1; i < 8; ++i) {
    const std::uint64_t bytes = i < 7 ? kFragment : kLast;
    builder.active_message(0, 1, AmId::eager_middle, bytes, 1 + i, {99, offset});
    offset += bytes - kHeader;
  }
}

TEST_CASE("64 KiB over posix: 7 x 8256 + 7880 - 24 - 7 x 16") {
  JobBuilder builder(2);
  add_64k_over_posix(builder);
  CHECK(covered(builder) == 7 * 8256 + 7880 - 24 - 7 * 16);
  CHECK(covered(builder) == 65536);
  CHECK(protocol(builder, 65536) == "eager/multi/bcopy");
  std::uint64_t sum = 0;
  for (const UctOp& op : builder.job.uct) {
    CHECK(role_of(op) == Role::data);
    sum += payload_bytes(op);
  }
  CHECK(sum == 65536);
}

// What is in the place of the offset is of the program's data, or the message's id.
TEST_CASE("fragments of which the log has no offset follow each other") {
  constexpr std::uint64_t kNoOffset = 0x1122334455667788;
  JobBuilder builder(2);
  UcpLibrary& library = builder.log(1).ucp_libraries[0];
  library.names_places = false;
  SUBCASE("answers to a get: the first may be recorded last") {
    const auto second = builder.active_message(1, 0, AmId::get_reply, 8 + 500, 3, {41, kNoOffset});
    const auto first = builder.active_message(1, 0, AmId::get_reply, 8 + 1000, 2, {41, kNoOffset});
    builder.uct(first).start_tick = 2;
    builder.uct(second).start_tick = 3;
    CHECK(covered(builder) == 1500);
    CHECK(builder.uct(first).range == Range{0, 1000});
    CHECK(builder.uct(second).range == Range{1000, 1500});
    library.names_places = true;  // a longer header, and an offset
    CHECK(covered(builder) == 992);
    CHECK(builder.uct(first).range.begin == kNoOffset);
  }
  SUBCASE("active messages: behind the first fragment") {
    const auto middle = builder.active_message(1, 0, AmId::am_middle, 24 + 700, 3, {99, 5});
    const auto last = builder.active_message(1, 0, AmId::am_middle, 24 + 50, 4, {99, 5});
    const auto first = builder.active_message(1, 0, AmId::am_first, 32 + 1000, 2, {3, 5});
    for (const auto i : {first, middle, last}) {
      builder.uct(i).start_tick = static_cast<std::uint64_t>(builder.uct(i).start_ns);
    }
    CHECK(covered(builder) == 1750);
    CHECK(builder.uct(first).range == Range{0, 1000});
    CHECK(builder.uct(middle).range == Range{1000, 1700});
    CHECK(builder.uct(last).range == Range{1700, 1750});
  }
}

TEST_CASE("a lost, repeated or shortened fragment shows") {
  JobBuilder builder(2);
  add_64k_over_posix(builder);
  SUBCASE("lost: the middle one failed") {
    builder.uct(UctIndex(4)).status = -3;
    CHECK(covered(builder) == 65536 - (8256 - 16));
  }
  SUBCASE("repeated: its bytes count once") {
    builder.job.uct.push_back(builder.uct(UctIndex(4)));
    CHECK(covered(builder) == 65536);
  }
  SUBCASE("shorter by a byte") {
    builder.uct(UctIndex(4)).bytes -= 1;
    CHECK(covered(builder) == 65535);
  }
  SUBCASE("longer than the message") {
    builder.uct(UctIndex(7)).bytes += 1;
    CHECK(covered(builder) == 65537);
  }
  SUBCASE("offset not recorded: nobody knows what it carried") {
    builder.uct(UctIndex(4)).header.count = 1;
    CHECK(covered(builder) == 65536 - (8256 - 16));
    CHECK(payload_bytes(builder.uct(UctIndex(4))) == 0);
  }
}

TEST_CASE("headers of single messages") {
  struct Case {
    AmId id;
    std::uint64_t header_bytes;
    const char* protocol;
  };
  for (const Case c : {Case{AmId::eager_only, 8, "eager/bcopy"},
                       Case{AmId::eager_sync_only, 24, "eager-sync/bcopy"}}) {
    JobBuilder builder(2);
    builder.active_message(0, 1, c.id, 100 + c.header_bytes, 1, {7, 1, 2});
    CHECK(covered(builder) == 100);
    CHECK(protocol(builder, 100) == c.protocol);
    builder.uct(UctIndex(0)).bytes = c.header_bytes - 1;  // shorter than its own header
    CHECK(covered(builder) == 0);
  }
}

TEST_CASE("a fetched rendezvous: the addresses of the sender's buffer") {
  JobBuilder builder(2);
  const UctIndex rts =
      builder.active_message(0, 1, AmId::rndv_rts, 54, 1, {7, 1, 2, 0x10000, 5000});
  builder.memory_operation(1, 0, log::UctOp::get_zcopy, 0x10000, 3000, 2);
  builder.memory_operation(1, 0, log::UctOp::get_zcopy, 0x10000 + 3000, 2000, 3);
  CHECK(covered(builder) == 5000);
  CHECK(builder.uct(UctIndex(2)).range.begin == 3000);
  CHECK(protocol(builder, 5000) == "rndv/get/zcopy");
  CHECK(role_of(builder.uct(rts)) == Role::control);
  CHECK(payload_bytes(builder.uct(rts)) == 0);
}

TEST_CASE("a written rendezvous: the addresses of the receiver's buffer") {
  JobBuilder builder(2);
  // The sender's buffer has overlapping addresses: it lies in another process.
  builder.active_message(0, 1, AmId::rndv_rts, 54, 1, {7, 1, 2, 0x10000 - 1000, 5000});
  builder.active_message(1, 0, AmId::rndv_rtr, 54, 2, {2, 3, 0x10000, 5000, 0});
  builder.memory_operation(0, 1, log::UctOp::put_zcopy, 0x10000, 3000, 3);
  builder.memory_operation(0, 1, log::UctOp::put_zcopy, 0x10000 + 3000, 2000, 4);
  CHECK(covered(builder) == 5000);
  CHECK(builder.uct(UctIndex(2)).range.begin == 0);
  CHECK(protocol(builder, 5000) == "rndv/put/zcopy");
}

TEST_CASE("memory that nobody announced is no payload") {
  JobBuilder builder(2);
  builder.active_message(0, 1, AmId::rndv_rts, 54, 1, {7, 1, 2, 0x10000, 5000});
  builder.memory_operation(1, 0, log::UctOp::get_zcopy, 0x10000 + 4000, 2000, 2);
  CHECK(covered(builder) == 0);
}

TEST_CASE("a rendezvous sent in fragments") {
  JobBuilder builder(2);
  builder.active_message(0, 1, AmId::rndv_rts, 54, 1, {7, 1, 2, 0x10000, 5000});
  builder.active_message(1, 0, AmId::rndv_rtr, 54, 2, {2, 3, 0, 5000, 0});
  builder.active_message(0, 1, AmId::rndv_data, 3016, 3, {3, 0});
  builder.active_message(0, 1, AmId::rndv_data, 2016, 4, {3, 3000});
  CHECK(covered(builder) == 5000);
  CHECK(protocol(builder, 5000) == "rndv/am/bcopy");
}

TEST_CASE("announced and acknowledged without a transfer: a CPU copied it") {
  JobBuilder builder(2);
  builder.active_message(0, 1, AmId::rndv_rts, 54, 1, {7, 1, 2, 0x10000, 5000});
  CHECK(protocol(builder, 5000) == "rndv");
  builder.active_message(1, 0, AmId::rndv_ats, 9, 2, {2});
  CHECK(protocol(builder, 5000) == kRkeyPtr);
  CHECK(protocol(builder, 0) == "rndv");
}

TEST_CASE("nothing tells nothing") {
  JobBuilder builder(2);
  CHECK(covered(builder) == 0);
  CHECK(protocol(builder, 10).empty());
}

}  // namespace
}  // namespace uctrace::merge

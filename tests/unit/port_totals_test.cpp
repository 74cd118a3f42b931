// Which records provably passed a port between two readings of its counter.
#include "log-merger/audit/port_totals.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/job_builder.hpp"

namespace uctrace::merge::test {
namespace {

constexpr std::int64_t kFirstReadingNs = 1'000'000, kLastReadingNs = 10'000'000'000;
constexpr std::int64_t kSoonAfterNs = kFirstReadingNs + 10,
                       kInTimeNs = kLastReadingNs - kCounterLagNs;
constexpr std::uint64_t kMovedBytes = 100;

// Two processes with these boot ids, each with a network card, and their ports.
struct TwoMachines {
  explicit TwoMachines(const char* first = "one", const char* second = "other")
      : builder(2, [&](int number, log::ProcessPage& page) {
          std::snprintf(page.boot_id, sizeof page.boot_id, "%s", number == 0 ? first : second);
        }) {
    Texts& texts = builder.job.run.texts;
    for (int i = 0; i < 2; ++i) {
      Interface& interface = builder.log(i).interfaces[InterfaceIndex(0)];
      interface.device_type = log::DeviceType::network;
      interface.device = texts.intern("card");
    }
    NetworkCard card;
    card.kind = CardKind::infiniband;
    card.counted = Counted::exact;
    card.counted_sent_bytes = card.counted_received_bytes = 1;
    card.t_from_ns = kFirstReadingNs;
    card.t_to_ns = kLastReadingNs;
    for (const char* boot_id : {"one", "other"}) {
      ports.add_machine(boot_id, {{{"card", card}}}, true);
    }
  }

  // The message of an operation of UCP, and the only operation of UCT that moved it.
  void add_message(UcpIndex asked, std::int64_t end_ns, UctIndex moved) {
    UcpOp& op = builder.ucp(asked);
    Message message;
    message.match = op.match;
    message.t_end_ns = end_ns;
    message.status = builder.job.run.texts.intern("UCS_OK");
    op.message = MessageIndex(builder.job.run.messages.size());
    builder.job.run.messages.push_back(message);
    moved_by.resize(builder.job.uct.size(), kNone);
    moved_by[moved] = op.message;
    const UctOp& by = builder.uct(moved);
    builder.log(by.process).endpoints[by.endpoint_row].remote_device =
        builder.job.run.texts.intern("card");
  }

  // From process 0 to 1.
  UctIndex send(std::int64_t at_ns, std::int64_t taken_ns, Match match = Match::exact) {
    const auto tick = static_cast<std::uint64_t>(at_ns);
    const UcpIndex sent = builder.send(0, 1, 7, kMovedBytes, tick),
                   received = builder.receive(1, 7, kMovedBytes, tick);
    builder.pair(sent, received);
    builder.ucp(sent).match = builder.ucp(received).match = match;
    builder.ucp(received).end_ns = taken_ns;
    const UctIndex moved =
        builder.memory_operation(0, 1, log::UctOp::put_zcopy, 0, kMovedBytes, at_ns);
    add_message(sent, taken_ns, moved);
    return moved;
  }

  // Asked by process 0.
  void one_sided(log::UcpFunction function, log::UctOp kind) {
    const UcpIndex asked =
        builder.one_sided(function, 0, 1, 0, kMovedBytes, static_cast<std::uint64_t>(kSoonAfterNs));
    builder.ucp(asked).match = Match::exact;
    add_message(asked, kInTimeNs,
                builder.memory_operation(0, 1, kind, 0, kMovedBytes, kSoonAfterNs));
  }

  // The clock of process 1 may be off by this.
  void set_clock_error(double error_ns) {
    builder.log(1).monotonic_clock = 1;
    PlacedClock other;
    ClockStretch stretch;
    stretch.end_ns = kLastReadingNs * 2;
    stretch.begin_error_ns = stretch.end_error_ns = error_ns;
    other.stretches.push_back(stretch);
    builder.job.clock_places = {PlacedClock{}, other};
  }

  void count() {
    moved_by.resize(builder.job.uct.size(), kNone);
    builder.job.operations_of = OperationsOfMessages(builder.job.run.messages.size(), moved_by);
    add_passed(builder.job, ports);
  }
  const PortGroup& port_of(int process) {
    const PortGroup* group = ports.group(process == 0 ? "one" : "other", "card");
    REQUIRE(group != nullptr);
    return *group;
  }

  JobBuilder builder;
  Ports ports;
  ByIndex<UctOp, MessageIndex> moved_by;
};

// Bytes that left process 0 and arrived at process 1; none in the other direction.
struct PassedBytes {
  std::uint64_t sent = 0, received = 0;
};
void check_passed(TwoMachines& machines, const PassedBytes& expected) {
  machines.count();
  CHECK(machines.port_of(0).sent.passed == expected.sent);
  CHECK(machines.port_of(1).received.passed == expected.received);
  CHECK(machines.port_of(0).received.passed == 0);
  CHECK(machines.port_of(1).sent.passed == 0);
}

TEST_CASE("port totals: what a receive took whole between the readings has passed both ports") {
  TwoMachines machines;
  machines.send(kSoonAfterNs, kInTimeNs);
  machines.send(kSoonAfterNs + 1, kInTimeNs);
  check_passed(machines, {2 * kMovedBytes, 2 * kMovedBytes});
  CHECK(machines.port_of(0).sent.late == 0);
}

TEST_CASE("port totals: what came whole shortly before the last reading may not be in it") {
  TwoMachines machines;
  machines.send(kSoonAfterNs, kInTimeNs);
  machines.send(kSoonAfterNs, kInTimeNs + 1);
  check_passed(machines, {2 * kMovedBytes, 2 * kMovedBytes});
  CHECK(machines.port_of(0).sent.late == kMovedBytes);
  CHECK(machines.port_of(1).received.late == kMovedBytes);
}

TEST_CASE("port totals: what may have passed outside of the readings proves nothing") {
  TwoMachines machines;
  SUBCASE("it left before the first") { machines.send(kFirstReadingNs - 1, kInTimeNs); }
  SUBCASE("it was taken after the last") { machines.send(kSoonAfterNs, kLastReadingNs + 1); }
  SUBCASE("nobody knows when it was taken") { machines.send(kSoonAfterNs, -1); }
  check_passed(machines, {0, 0});
}

TEST_CASE("port totals: the clocks of both decide, with their errors") {
  TwoMachines machines;
  SUBCASE("it left before the first reading of the other side, perhaps") {
    machines.set_clock_error(1000);
    machines.send(kSoonAfterNs, kInTimeNs);
    check_passed(machines, {kMovedBytes, 0});
  }
  SUBCASE("it came after the last reading of the other side, perhaps") {
    machines.set_clock_error(1000);
    machines.send(kSoonAfterNs + 100'000, kLastReadingNs - 10);
    check_passed(machines, {0, kMovedBytes});
  }
  SUBCASE("between them for certain") {
    machines.set_clock_error(1000);
    machines.send(kSoonAfterNs + 100'000, kInTimeNs - 100'000);
    check_passed(machines, {kMovedBytes, kMovedBytes});
  }
  SUBCASE("nobody knows how far they are off") {
    machines.builder.log(1).monotonic_clock = 1;
    machines.send(kSoonAfterNs, kInTimeNs);
    // It left the one by its own clock; when it came is known by that of the other alone.
    check_passed(machines, {0, 0});
  }
}

TEST_CASE("port totals: a put proves nothing, and the data of a get comes from the other side") {
  TwoMachines machines;
  SUBCASE("put") {
    machines.one_sided(log::UcpFunction::put_nbx, log::UctOp::put_zcopy);
    check_passed(machines, {0, 0});
  }
  SUBCASE("get") {
    machines.one_sided(log::UcpFunction::get_nbx, log::UctOp::get_zcopy);
    machines.count();
    CHECK(machines.port_of(1).sent.passed == kMovedBytes);
    CHECK(machines.port_of(0).received.passed == kMovedBytes);
    CHECK(machines.port_of(0).sent.passed + machines.port_of(1).received.passed == 0);
  }
}

TEST_CASE("port totals: what was not moved, or not by a card, or not for certain") {
  TwoMachines machines;
  SUBCASE("failed") { machines.builder.uct(machines.send(kSoonAfterNs, kInTimeNs)).status = -3; }
  SUBCASE("ambiguous") { machines.send(kSoonAfterNs, kInTimeNs, Match::ambiguous); }
  SUBCASE("a copy on the way") {
    machines.builder.uct(machines.send(kSoonAfterNs, kInTimeNs)).staging = true;
  }
  SUBCASE("not by a network card") {
    machines.send(kSoonAfterNs, kInTimeNs);
    machines.builder.log(0).interfaces[InterfaceIndex(0)].device_type =
        log::DeviceType::shared_memory;
  }
  SUBCASE("by a card whose counter is not known") {
    machines.send(kSoonAfterNs, kInTimeNs);
    const TextId other = machines.builder.job.run.texts.intern("other card");
    machines.builder.log(0).interfaces[InterfaceIndex(0)].device = other;
    machines.builder.log(0).endpoints[EndpointIndex(0)].remote_device = kNoText;
  }
  check_passed(machines, {0, 0});
}

TEST_CASE("port totals: only between machines that are two for certain") {
  std::optional<TwoMachines> machines;
  SUBCASE("the same one") { machines.emplace("one", "one"); }
  SUBCASE("the first is not known") { machines.emplace("", "other"); }
  SUBCASE("the second is not known") { machines.emplace("one", ""); }
  SUBCASE("neither is known") { machines.emplace("", ""); }
  machines->send(kSoonAfterNs, kInTimeNs);
  check_passed(*machines, {0, 0});
}

}  // namespace
}  // namespace uctrace::merge::test

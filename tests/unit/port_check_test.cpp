// Whether ports counted at least what passed them.
#include "log-merger/rails/port_check.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "log-merger/rails/card_readings.hpp"
#include "tests/unit/job_builder.hpp"
#include "tests/unit/log_builder.hpp"

namespace uctrace::merge::test {
namespace {

NetworkCard card_of(CardKind kind, Counted counted, std::uint64_t sent, std::uint64_t received,
                    std::int64_t from_ns = 10, std::int64_t to_ns = 90) {
  NetworkCard card;
  card.kind = kind;
  card.counted = counted;
  card.counted_sent_bytes = sent;
  card.counted_received_bytes = received;
  card.t_from_ns = from_ns;
  card.t_to_ns = to_ns;
  return card;
}
NetworkCard net(std::uint64_t sent, std::uint64_t received, Counted counted = Counted::exact) {
  return card_of(CardKind::net, counted, sent, received);
}
NetworkCard port(std::uint64_t sent, std::uint64_t received, Counted counted = Counted::exact) {
  return card_of(CardKind::infiniband, counted, sent, received);
}

TEST_CASE("port check: sums of all groups, and what speaks against them") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<PortFlow> flows(random() % 5);
    std::uint64_t passed = 0, missing = 0;
    bool violated = false, unclear = false;
    for (PortFlow& flow : flows) {
      flow.counted = random() % 40;
      flow.passed = random() % 40;
      flow.late = random() % (flow.passed + 1);
      flow.loopback = random() % 8;
      flow.exact = random() % 2 == 0;
      flow.ordinary = random() % 2 == 0;
      passed += flow.passed;
      if (flow.passed <= flow.counted) continue;
      missing += flow.passed - flow.counted;
      const bool may_lag = flow.counted + flow.late >= flow.passed;
      const bool may_loop = flow.counted + flow.late + flow.loopback >= flow.passed;
      const bool may_bypass = flow.ordinary && 10 * flow.counted <= flow.passed;
      const bool is_clear = flow.exact && !may_lag && !may_loop && !may_bypass;
      violated = violated || is_clear;
      unclear = unclear || !is_clear;
    }
    const PortCheck check = check_flows(flows);
    CHECK(check.any() == (passed != 0));
    CHECK(check.passed == passed);
    CHECK(check.covered == passed - missing);
    CHECK(check.violated == violated);
    CHECK(check.unclear == unclear);
  }
}

TEST_CASE("port check: ordinary cards of a machine count together, ports by themselves") {
  Ports ports;
  ports.add_machine("a",
                    {{{"eth0", net(5, 6)}, {"eth1", net(7, 8)}, {"lo", net(0, 0)}},
                     {{"mlx5_0:1", port(20, 30)}, {"mlx5_0:2", port(1, 0)}}},
                    true);
  ports.add_machine("b", {{{"eth0", net(1, 0)}, {"lo", net(0, 0)}}}, true);
  PortGroup* ordinary = ports.group("a", "eth0");
  REQUIRE(ordinary != nullptr);
  CHECK(ports.group("a", "eth1") == ordinary);
  CHECK(ordinary->sent.counted == 12);
  CHECK(ordinary->received.counted == 14);
  CHECK(ordinary->sent.exact);
  CHECK(ports.group("a", "mlx5_0:1")->received.counted == 30);
  CHECK(ports.group("a", "mlx5_0:2") != ports.group("a", "mlx5_0:1"));
  CHECK(ports.group("b", "eth0") != ordinary);
  CHECK(ports.group("a", "lo") == nullptr);
  CHECK(ports.group("c", "eth0") == nullptr);

  ordinary->sent.passed = 13;
  ports.group("a", "mlx5_0:2")->received.passed = 3;
  CHECK(ports.sent().passed == 13);
  CHECK(ports.sent().covered == 12);
  CHECK(ports.sent().violated);
  CHECK(ports.received().violated);
}

TEST_CASE("port check: times that all cards of a group were counted in") {
  Ports ports;
  ports.add_machine("a",
                    {{{"eth0", card_of(CardKind::net, Counted::exact, 1, 1, 10, 90)},
                      {"eth1", card_of(CardKind::net, Counted::exact, 1, 1, 12, 95)},
                      {"lo", net(0, 0)}}},
                    true);
  CHECK(ports.group("a", "eth1")->from_ns == 12);
  CHECK(ports.group("a", "eth1")->to_ns == 90);
}

TEST_CASE("port check: counters that may miss some do not violate anything") {
  Ports ports;
  SUBCASE("a host of the machine was not read") {
    ports.add_machine("a", {{{"eth0", net(50, 50)}, {"lo", net(0, 0)}}}, false);
  }
  SUBCASE("a card went") {
    ports.add_machine(
        "a", {{{"eth0", net(50, 50)}, {"eth1", net(0, 0, Counted::gone)}, {"lo", net(0, 0)}}},
        true);
  }
  SUBCASE("a card of another network of the machine came") {
    ports.add_machine("a",
                      {{{"eth0", net(50, 50)}, {"lo", net(0, 0)}},
                       {{"eth0", net(1, 1, Counted::partly)}, {"lo", net(0, 0)}}},
                      true);
  }
  SUBCASE("none of the counters moves") {
    ports.add_machine("a", {{{"eth0", port(0, 0)}, {"lo", net(0, 0)}}}, true);
  }
  SUBCASE("a card is used without the kernel, which counts little") {
    ports.add_machine("a", {{{"eth0", net(9, 9)}, {"lo", net(0, 0)}}}, true);
  }
  SUBCASE("what seems two machines is one, and the rest went inside of it") {
    ports.add_machine("a", {{{"eth0", net(50, 50)}, {"lo", net(50, 50)}}}, true);
  }
  SUBCASE("nobody knows what went inside of it") {
    ports.add_machine("a", {{{"eth0", net(50, 50)}}}, true);
  }
  SUBCASE("what went inside of it was not counted in full") {
    ports.add_machine("a", {{{"eth0", net(50, 50)}, {"lo", net(0, 0, Counted::wrapped)}}}, true);
  }
  SUBCASE("two ports of InfiniBand are one card of the network") {
    ports.add_machine("a", {{{"eth0", port(50, 50)}}, {{"bond0", net(50, 50)}, {"lo", net(0, 0)}}},
                      true);
  }
  SUBCASE("a card of InfiniBand stands for two") {
    ports.add_machine("a", {{{"eth0", port(5, 5)}, {"bond", port(5, 5)}}}, true);
    PortGroup* group = ports.group("a", "bond");
    group->sent.passed = 100;
    CHECK(ports.sent().unclear);
    CHECK(!ports.sent().violated);
    return;
  }
  PortGroup* group = ports.group("a", "eth0");
  REQUIRE(group != nullptr);
  group->sent.passed = group->received.passed = 100;
  CHECK(ports.sent().unclear);
  CHECK(!ports.sent().violated);
  CHECK(ports.received().unclear);
}

TEST_CASE("port check: counters that miss more than that are wrong") {
  Ports ports;
  SUBCASE("an ordinary card") {
    ports.add_machine("a", {{{"card", net(50, 50)}, {"lo", net(49, 49)}}}, true);
  }
  SUBCASE("a port of InfiniBand, which nothing goes by") {
    ports.add_machine("a", {{{"card", port(9, 9)}}, {{"eth0", net(1, 1)}}}, true);
  }
  PortGroup* group = ports.group("a", "card");
  REQUIRE(group != nullptr);
  group->sent.passed = 100;
  CHECK(ports.sent().violated);
  CHECK(!ports.sent().unclear);
  group->sent.late = 100;  // the counters may lag
  CHECK(!ports.sent().violated);
  CHECK(ports.sent().unclear);
}

CardReadings readings(std::uint64_t from, std::uint64_t to, std::optional<std::uint64_t> packets) {
  const CardReading first{CardKind::infiniband, "mlx5_0:1", 1, from, 2 * from, packets, packets};
  const CardReading last{CardKind::infiniband, "mlx5_0:1", 9, to, 2 * to, packets, packets};
  return {first, last};
}

TEST_CASE("port check: ports of two machines that may be one") {
  const CardReadings one = readings(10, 20, 5);
  CHECK(may_be_one(one, one));
  CHECK(may_be_one(one, readings(20, 30, 5)));
  CHECK(may_be_one(readings(0, 10, 5), one));
  CHECK(!may_be_one(one, readings(21, 30, 5)));
  CHECK(!may_be_one(readings(0, 9, 5), one));
  CHECK(!may_be_one(one, readings(12, 14, 6)));  // its packets never overlap
  CHECK(may_be_one(one, readings(12, 14, std::nullopt)));
  CHECK(may_be_one(one, readings(12, 3, 5)));  // cleared
  CHECK(may_be_one(one, {one.first, std::nullopt}));
}

// The log of a process that read the only port of its host at the start and at the end.
log::LogFile log_with_readings(const log::ProcessPage& page, std::uint64_t from, std::uint64_t to) {
  log::test::LogBuilder builder;
  builder.page = page;
  builder.chunk(log::Stream::definitions, 0, 1);
  for (const bool at_end : {false, true}) {
    const std::string words =
        fmt::format("infiniband mlx5_0:1 {0} {0} {0} {0}", at_end ? to : from);
    log::Text text{};
    text.head.a = static_cast<std::uint16_t>(log::TextKind::network_card);
    text.head.b = static_cast<std::uint32_t>(words.size());
    text.tick = at_end ? 1'500'000 : 500'000;
    text.id = at_end;
    builder.add(text, log::RecordType::text, log::test::words_of(words));
  }
  return builder.read();
}

TEST_CASE("port check: machines that seem to share a port of InfiniBand may be one machine") {
  bool are_apart = false;
  SUBCASE("the same counters") {}
  SUBCASE("other ones") { are_apart = true; }
  JobBuilder builder(2, [](int number, log::ProcessPage& page) {
    std::snprintf(page.boot_id, sizeof page.boot_id, "boot%d", number);
  });
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t from = are_apart && i == 1 ? 2000 : 1010 + 10u * static_cast<unsigned>(i);
    builder.log(i).file = log_with_readings(builder.log(i).file.page(), from, from + 100);
  }
  Ports ports(builder.job);
  PortGroup* group = ports.group("boot0", "mlx5_0:1");
  REQUIRE(group != nullptr);
  CHECK(group->sent.counted == 400);
  CHECK(group->sent.exact == are_apart);
  CHECK(group->received.exact == are_apart);
  CHECK(ports.group("boot1", "mlx5_0:1")->sent.exact == are_apart);
}

TEST_CASE("port check: cards whose counts are not known are in no group") {
  Ports ports;
  ports.add_machine("a", {{{"mlx5_0:1", port(0, 0, Counted::restarted)}}}, true);
  CHECK(ports.group("a", "mlx5_0:1") == nullptr);
}

}  // namespace
}  // namespace uctrace::merge::test

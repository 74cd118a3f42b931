// Whether ports counted at least what passed them.
#include "log-merger/rails/port_check.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

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
      flow = {random() % 4, random() % 4, random() % 2 == 0};
      passed += flow.passed;
      if (flow.passed <= flow.counted) continue;
      missing += flow.passed - flow.counted;
      violated = violated || flow.exact;
      unclear = unclear || !flow.exact;
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
                    {{{"eth0", net(5, 6)}, {"eth1", net(7, 8)}, {"lo", net(100, 100)}},
                     {{"mlx5_0:1", port(20, 30)}, {"mlx5_0:2", port(1, 0)}}},
                    true);
  ports.add_machine("b", {{{"eth0", net(1, 0)}}}, true);
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
                      {"eth1", card_of(CardKind::net, Counted::exact, 1, 1, 12, 95)}}},
                    true);
  CHECK(ports.group("a", "eth1")->from_ns == 12);
  CHECK(ports.group("a", "eth1")->to_ns == 90);
}

TEST_CASE("port check: counters that may miss some do not violate anything") {
  Ports ports;
  SUBCASE("a host of the machine was not read") {
    ports.add_machine("a", {{{"eth0", net(5, 5)}}}, false);
  }
  SUBCASE("a card went") {
    ports.add_machine("a", {{{"eth0", net(5, 5)}, {"eth1", net(0, 0, Counted::gone)}}}, true);
  }
  SUBCASE("a card of another network of the machine came") {
    ports.add_machine("a", {{{"eth0", net(5, 5)}}, {{"eth0", net(1, 1, Counted::partly)}}}, true);
  }
  SUBCASE("none of the counters moves") { ports.add_machine("a", {{{"eth0", net(0, 0)}}}, true); }
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

TEST_CASE("port check: cards whose counts are not known are in no group") {
  Ports ports;
  ports.add_machine("a", {{{"mlx5_0:1", port(0, 0, Counted::restarted)}}}, true);
  CHECK(ports.group("a", "mlx5_0:1") == nullptr);
}

}  // namespace
}  // namespace uctrace::merge::test

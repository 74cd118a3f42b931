// The bytes on ports between readings of their counters, and the recorded bytes over them.
#include "log-merger/rails/rails.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "log-merger/model/network_cards.hpp"
#include "log-merger/rails/card_readings.hpp"
#include "tests/unit/job_builder.hpp"

namespace uctrace::merge::test {
namespace {

constexpr std::uint64_t k32 = UINT32_MAX, k64 = UINT64_MAX;

NetworkText text(bool at_end, std::string words, std::int64_t ns = 0, std::uint64_t network = 5) {
  return {at_end, network, ns, std::move(words)};
}

TEST_CASE("rails: a reading is taken word by word, or not at all") {
  const auto reading = parse_card_reading(text(false, "infiniband mlx5_0:1 10 20 - 4", 7));
  REQUIRE(reading);
  CHECK(reading->kind == CardKind::infiniband);
  CHECK(reading->device == "mlx5_0:1");
  CHECK(reading->ns == 7);
  CHECK(reading->sent == 10);
  CHECK(reading->received == 20);
  CHECK(!reading->sent_packets);
  CHECK(reading->received_packets == 4);
  for (const char* other : {"", "net", "net eth0 1 2 3", "net eth0 1 2 3 4 5", "tap eth0 1 2 3 4",
                            "unlisted net 2", "more cards 3", "unread sandbox 0"}) {
    CHECK(!parse_card_reading(text(false, other)));
  }
  CHECK(!parse_card_reading(text(false, "net eth0 -1 99999999999999999999 x3 4x"))->sent);
}

TEST_CASE("rails: what a counter rose by") {
  struct Case {
    std::uint64_t from, to;
    Counted counted;
    std::uint64_t by;
  };
  for (const Case& one :
       {Case{0, 0, Counted::exact, 0}, Case{5, 9, Counted::exact, 4},
        Case{k64 - 1, 3, Counted::exact, 5}, Case{k32 - 1, 3, Counted::wrapped, 5},
        Case{7, k32, Counted::at_least, k32 - 7}, Case{k32, k32, Counted::at_least, 0},
        Case{k32 + 9, k32 + 10, Counted::exact, 1}}) {
    const CounterRise rise = rise_of(CardKind::net, one.from, one.to);
    CHECK(rise.counted == one.counted);
    CHECK(rise.by == one.by);
  }
  CHECK(rise_of(CardKind::net, 1000, 10).counted == Counted::restarted);
  CHECK(rise_of(CardKind::net, std::uint64_t{1} << 40, 10).counted == Counted::restarted);
  CHECK(rise_of(CardKind::net, 2'200'000'000u, 2'100'000'000u).counted == Counted::restarted);
  CHECK(rise_of(CardKind::infiniband, k32 - 1, 3).counted == Counted::restarted);
  CHECK(!rise_of(CardKind::net, 1000, 10).by);
  CHECK(rise_of(CardKind::net, std::nullopt, 10).counted == Counted::unread);
}

TEST_CASE("rails: the first and the last reading of a host count, whoever read") {
  HostReadings host;
  host.add(text(false, "net eth0 100 100 1 1", 20));
  host.add(text(false, "net eth0 50 60 0 0", 10));
  host.add(text(true, "net eth0 500 600 9 9", 90));
  host.add(text(true, "net eth0 400 400 8 8", 80));
  host.add(text(true, "more cards 2"));
  host.add(text(true, "more cards 2"));
  const NetworkCard card = host.cards().at("eth0");
  CHECK(card.counted == Counted::exact);
  CHECK(card.counted_sent_bytes == 450);
  CHECK(card.counted_received_bytes == 540);
  CHECK(card.counted_sent_packets == 9);
  CHECK(card.t_from_ns == 10);
  CHECK(card.t_to_ns == 90);
  CHECK(host.remarks() == std::vector<std::string>{"more cards 2"});

  host.add(text(true, "net eth0 1 1 1 1", 95, 6));  // of another network
  CHECK(host.cards().at("eth0").counted == Counted::several);
  CHECK(host.cards().at("eth0").counted_sent_bytes == 0);
}

TEST_CASE("rails: cards that come, go, or are read once") {
  HostReadings host;
  host.add(text(false, "net gone 1 1 1 1", 1));
  CHECK(host.cards().at("gone").counted == Counted::no_end);
  host.add(text(true, "net came 7 8 1 1", 2));
  CHECK(host.cards().at("gone").counted == Counted::gone);
  CHECK(host.cards().at("came").counted == Counted::partly);
  CHECK(host.cards().at("came").counted_sent_bytes == 7);
  CHECK(host.cards().at("came").counted_received_bytes == 8);
}

// Processes 0 and 1 on one host, 2 on another; the card of each is net<number>.
JobBuilder three_processes() {
  JobBuilder builder(3, [](int number, log::ProcessPage& page) {
    std::snprintf(page.host, sizeof page.host, number == 2 ? "far" : "near");
  });
  for (int i = 0; i < 3; ++i) {
    Interface& interface = builder.log(i).interfaces[InterfaceIndex(0)];
    interface.device_type = log::DeviceType::network;
    interface.device = builder.job.run.texts.intern("net" + std::to_string(i));
  }
  return builder;
}

TEST_CASE("rails: data leaves by one card and comes in by the other, whoever asked") {
  std::mt19937_64 random(4);
  JobBuilder builder = three_processes();
  struct Sums {
    std::uint64_t sent = 0, received = 0, inside = 0;
  };
  std::map<int, Sums> expected;
  for (int i = 0; i < 300; ++i) {
    const int from = static_cast<int>(random() % 3),
              to = static_cast<int>((from + 1 + random() % 2) % 3);
    const bool fetches = random() % 2 == 0;
    const std::uint64_t bytes = random() % 1000 + 1;
    const UctIndex op = builder.memory_operation(
        from, to, fetches ? log::UctOp::get_zcopy : log::UctOp::put_zcopy, 0, bytes, i);
    const EndpointIndex endpoint = builder.uct(op).endpoint_row;
    builder.log(from).endpoints[endpoint].remote_device =
        builder.job.run.texts.intern("net" + std::to_string(to));
    if (random() % 10 == 0) {
      builder.uct(op).status = -3;  // refused: it moved nothing
    } else if (from != 2 && to != 2) {
      expected[from].inside += bytes;
    } else {
      expected[fetches ? to : from].sent += bytes;
      expected[fetches ? from : to].received += bytes;
    }
  }
  const std::vector<NetworkCard> cards = find_rails(builder.job);
  REQUIRE(cards.size() == 3);
  for (const NetworkCard& card : cards) {
    const int number = card.device.back() - '0';
    CHECK(card.host == (number == 2 ? "far" : "near"));
    CHECK(card.opened);
    CHECK(card.counted == Counted::unread);
    CHECK(card.sent_bytes == expected[number].sent);
    CHECK(card.received_bytes == expected[number].received);
    CHECK(card.inside_bytes == expected[number].inside);
  }
}

TEST_CASE("rails: a peer that is not known is neither inside nor outside") {
  JobBuilder builder = three_processes();
  const UctIndex op = builder.memory_operation(0, 2, log::UctOp::put_zcopy, 0, 40, 1);
  builder.log(0).endpoints[builder.uct(op).endpoint_row].peer_process = kNone;
  const std::vector<NetworkCard> cards = find_rails(builder.job);
  CHECK(cards[1].device == "net0");
  CHECK(cards[1].unknown_operations == 1);
  CHECK(cards[1].unknown_bytes == 40);
  CHECK(cards[1].sent_bytes + cards[1].inside_bytes == 0);
}

TEST_CASE("rails: machines that call themselves the same are told apart by their boot") {
  JobBuilder builder(2, [](int number, log::ProcessPage& page) {
    std::snprintf(page.host, sizeof page.host, "localhost");
    std::snprintf(page.boot_id, sizeof page.boot_id, "%d1234567-and-more", number);
  });
  for (int i = 0; i < 2; ++i) {
    Interface& interface = builder.log(i).interfaces[InterfaceIndex(0)];
    interface.device_type = log::DeviceType::network;
    interface.device = builder.job.run.texts.intern("eth0");
  }
  builder.memory_operation(0, 1, log::UctOp::put_zcopy, 0, 40, 1);
  const std::vector<NetworkCard> cards = find_rails(builder.job);
  REQUIRE(cards.size() == 2);
  CHECK(cards[0].host == "localhost-01234567");
  CHECK(cards[1].host == "localhost-11234567");
  CHECK(cards[0].sent_bytes == 40);
  CHECK(cards[0].inside_bytes == 0);
}

TEST_CASE("rails: whether the other side is on the same machine takes the boot ids of both") {
  JobBuilder builder(2, [](int number, log::ProcessPage& page) {
    std::snprintf(page.host, sizeof page.host, "localhost");
    std::snprintf(page.boot_id, sizeof page.boot_id, "%s", number == 0 ? "" : "1234567-and-more");
  });
  for (int i = 0; i < 2; ++i) {
    Interface& interface = builder.log(i).interfaces[InterfaceIndex(0)];
    interface.device_type = log::DeviceType::network;
    interface.device = builder.job.run.texts.intern("eth0");
    builder.memory_operation(i, 1 - i, log::UctOp::put_zcopy, 0, 40, 1);
  }
  const std::vector<NetworkCard> cards = find_rails(builder.job);
  REQUIRE(cards.size() == 2);
  CHECK(cards[0].host == "localhost");
  CHECK(cards[1].host == "localhost-1234567-");
  for (const NetworkCard& card : cards) {
    CHECK(card.unknown_bytes == 40);
    CHECK(card.sent_bytes + card.received_bytes + card.inside_bytes == 0);
  }
}

TEST_CASE("rails: cards come back out of the facts of a run, and damaged ones do no harm") {
  NetworkCard card;
  card.host = "a";
  card.device = "mlx5_0:1";
  card.kind = CardKind::infiniband;
  card.counted = Counted::wrapped;
  card.opened = true;
  card.t_from_ns = 5;
  card.counted_sent_bytes = k64;
  card.inside_bytes = 3;
  const std::vector<NetworkCard> cards = {card, NetworkCard{}};
  CHECK(network_cards_of(nlohmann::ordered_json::parse(network_cards_json(cards).dump())) == cards);
  for (const char* damaged :
       {"null", "7", "{}", "[7, null]", R"([{"host": 7, "kind": "x", "sent_bytes": -1}])"}) {
    for (const NetworkCard& found : network_cards_of(nlohmann::ordered_json::parse(damaged))) {
      CHECK(found == NetworkCard{});
    }
  }
}

}  // namespace
}  // namespace uctrace::merge::test

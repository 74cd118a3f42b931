// Connections find their other end, and only it: small cases by hand, and random ones against the
// truth that they were made from.
#include "log-merger/peers/connections.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using log::ConnectionSide;

ConnectionEnd end(ConnectionSide side, const char* local, const char* remote, std::int64_t ns,
                  std::uint64_t network = 1, const char* host = "a") {
  const std::string text = std::string(local) + remote;
  return {{side, network, ns, local, remote, text.find("127.") != std::string::npos}, host};
}
ConnectionEnd client(const char* local, const char* remote, std::int64_t ns,
                     std::uint64_t network = 1, const char* host = "a") {
  return end(ConnectionSide::client, local, remote, ns, network, host);
}
ConnectionEnd server(const char* local, const char* remote, std::int64_t ns,
                     std::uint64_t network = 1, const char* host = "a") {
  return end(ConnectionSide::server, local, remote, ns, network, host);
}

constexpr const char *kC = "10.0.0.1:4000", *kS = "10.0.0.2:5000";
constexpr const char *kLoopC = "127.0.0.1:4000", *kLoopS = "127.0.0.1:5000";
using Pairs = std::vector<Index>;

TEST_CASE("a connection has two ends, seen from both sides") {
  CHECK(pair_connections({client(kC, kS, 10), server(kS, kC, 20)}, 0) == Pairs{1, 0});
  CHECK(pair_connections({client(kC, kS, 10), client(kS, kC, 20)}, 0) == Pairs{kNone, kNone});
  CHECK(pair_connections({client(kC, kS, 10), server(kS, kS, 20)}, 0) == Pairs{kNone, kNone});
  CHECK(pair_connections({client("", "", 10), server("", "", 20)}, 0) == Pairs{kNone, kNone});
  CHECK(pair_connections({}, 0).empty());
}

TEST_CASE("a pair of addresses that is used again: the nearest in time") {
  CHECK(pair_connections(
            {client(kC, kS, 10), server(kS, kC, 20), client(kC, kS, 110), server(kS, kC, 120)},
            0) == Pairs{1, 0, 3, 2});
  // The first client left no log: its server's end is not the later client's.
  CHECK(pair_connections({server(kS, kC, 20), client(kC, kS, 110), server(kS, kC, 120)}, 0) ==
        Pairs{kNone, 2, 1});
  CHECK(pair_connections({server(kS, kC, 20), client(kC, kS, 110)}, 0) == Pairs{kNone, kNone});
}

TEST_CASE("on one host the client is told first, as well as its clock is known") {
  CHECK(pair_connections({client(kC, kS, 21), server(kS, kC, 20)}, 0) == Pairs{kNone, kNone});
  CHECK(pair_connections({client(kC, kS, 21), server(kS, kC, 20)}, 5) == Pairs{1, 0});
  CHECK(pair_connections({client(kC, kS, 9000, 1, "a"), server(kS, kC, 20, 1, "b")}, 0) ==
        Pairs{1, 0});
}

TEST_CASE("addresses that several hosts and namespaces use") {
  // Loopback stays in its namespace.
  CHECK(pair_connections({client(kLoopC, kLoopS, 10, 1), server(kLoopS, kLoopC, 20, 2)}, 0) ==
        Pairs{kNone, kNone});
  CHECK(pair_connections({client(kLoopC, kLoopS, 10, 1, "a"), client(kLoopC, kLoopS, 11, 1, "b"),
                          server(kLoopS, kLoopC, 12, 1, "b"), server(kLoopS, kLoopC, 13, 1, "a")},
                         0) == Pairs{3, 2, 1, 0});
  // The same private addresses in two places, each with both its ends.
  CHECK(pair_connections({client(kC, kS, 10, 1), client(kC, kS, 11, 2), server(kS, kC, 12, 2),
                          server(kS, kC, 13, 1)},
                         0) == Pairs{3, 2, 1, 0});
  // Between namespaces, with two clients to choose from.
  CHECK(pair_connections({client(kC, kS, 10, 1), client(kC, kS, 11, 2), server(kS, kC, 12, 3)},
                         0) == Pairs{kNone, kNone, kNone});
}

// Hosts that use the same few ports of the same private addresses over and over; some ends left no
// log. `truth`: the other end, by index.
struct Traffic {
  std::vector<ConnectionEnd> ends;
  Pairs truth;
};

Traffic random_traffic(std::mt19937& random, bool logs_missing) {
  Traffic traffic;
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::int64_t now = 0;
  for (int i = 0; i < 60; ++i) {
    now += 1000;  // a port is free again only when its connection is over
    const char* host = below(2) == 0 ? "a" : "b";
    const auto network = static_cast<std::uint64_t>(below(2));
    const std::string local = "127.0.0.1:" + std::to_string(4000 + below(3));
    const bool keep_client = !logs_missing || below(4) != 0;
    const bool keep_server = !logs_missing || below(4) != 0;
    const auto at = static_cast<Index>(traffic.ends.size());
    const bool both = keep_client && keep_server;
    if (keep_client) {
      traffic.ends.push_back(client(local.c_str(), kLoopS, now, network, host));
      traffic.truth.push_back(both ? at + 1 : kNone);
    }
    if (keep_server) {
      traffic.ends.push_back(server(kLoopS, local.c_str(), now + 1 + below(400), network, host));
      traffic.truth.push_back(both ? at : kNone);
    }
  }
  return traffic;
}

// Every end against every other: the only one that is nearer to it than to any other of its side.
Pairs naive_pairs(const std::vector<ConnectionEnd>& ends) {
  const auto fit = [&](std::size_t i, std::size_t j) {
    const Connection &a = ends[i].connection, &b = ends[j].connection;
    return a.side != b.side && a.local == b.remote && a.remote == b.local &&
           ends[i].host == ends[j].host && a.network_namespace == b.network_namespace;
  };
  const auto nearest = [&](std::size_t i) {
    Index best = kNone;
    std::int64_t distance = INT64_MAX;
    for (std::size_t j = 0; j < ends.size(); ++j) {
      const std::int64_t away =
          std::abs(ends[i].connection.connected_ns - ends[j].connection.connected_ns);
      if (fit(i, j) && away == distance) best = kNone;
      if (fit(i, j) && away < distance) {
        best = static_cast<Index>(j);
        distance = away;
      }
    }
    return best;
  };
  Pairs pairs(ends.size(), kNone);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Index j = nearest(i);
    if (j == kNone || nearest(static_cast<std::size_t>(j)) != static_cast<Index>(i)) continue;
    const bool first = ends[i].connection.side == ConnectionSide::client;
    const std::size_t c = first ? i : static_cast<std::size_t>(j);
    const std::size_t s = first ? static_cast<std::size_t>(j) : i;
    if (ends[c].connection.connected_ns <= ends[s].connection.connected_ns) pairs[i] = j;
  }
  return pairs;
}

TEST_CASE("connections of random traffic are found, none is invented") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const Traffic whole = random_traffic(random, false);
    CHECK(pair_connections(whole.ends, 0) == whole.truth);
    const Traffic partial = random_traffic(random, true);
    CHECK(pair_connections(partial.ends, 0) == naive_pairs(partial.ends));
  }
}

UcpEndpoint connected(ConnectionSide side, const char* local, const char* remote, std::int64_t ns) {
  UcpEndpoint row;
  row.handle = 0x2000;
  row.worker = test::JobBuilder::kWorker;
  row.connection = client(local, remote, ns).connection;
  row.connection->side = side;
  return row;
}

Worker worker_of(Rank process) {
  return {.handle = test::JobBuilder::kWorker, .uid = test::JobBuilder::uid(process)};
}

TEST_CASE("endpoints made by socket address name each other's workers") {
  test::JobBuilder builder(2);
  for (const int p : {0, 1}) builder.log(p).workers.push_back(worker_of(p));
  builder.log(0).ucp_endpoints.push_back(connected(ConnectionSide::client, kLoopC, kLoopS, 10));
  builder.log(1).ucp_endpoints.push_back(connected(ConnectionSide::server, kLoopS, kLoopC, 20));
  const UcpIndex send = builder.send(0, 1, 7, 100, 30);
  UcpOp& op = builder.ucp(send);
  op.handle = 0x2000;
  op.peer_uid = 0;
  op.peer_process = kNone;
  link_peers(builder.job);
  CHECK(op.peer_process == ProcessIndex(1));
  CHECK(op.peer_uid == test::JobBuilder::uid(1));
  CHECK(builder.log(0).ucp_endpoints[0].peer_by == PeerBy::connection);
}

TEST_CASE("a receive is of the worker that has the handle then, and of none that was destroyed") {
  test::JobBuilder builder(1);
  const auto receive_at = [&](std::uint64_t tick) {
    const UcpIndex receive = builder.receive(0, 7, 100, tick);
    builder.ucp(receive).worker_uid = 0;
    return receive;
  };
  const std::uint64_t handle = test::JobBuilder::kWorker;
  Rows<Worker>& workers = builder.log(0).workers;
  workers.push_back({.handle = handle, .tick = 10, .uid = 1, .end_tick = 20});
  workers.push_back({.handle = handle, .tick = 30, .uid = 2});
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> uid_at = {
      {9, 0}, {10, 1}, {20, 1}, {21, 0}, {29, 0}, {30, 2}, {1000, 2}};
  std::vector<UcpIndex> receives;
  for (const auto& [tick, uid] : uid_at) receives.push_back(receive_at(tick));
  link_peers(builder.job);
  for (std::size_t i = 0; i < uid_at.size(); ++i) {
    CHECK(builder.ucp(receives[i]).worker_uid == uid_at[i].second);
  }
  CHECK(workers[0].operations == 2);
  CHECK(workers[1].operations == 2);
}

TEST_CASE("an operation's transfers tell the peer of an endpoint that UCP made by itself") {
  test::JobBuilder builder(2);
  for (const int p : {0, 1}) {
    builder.log(p).workers.push_back(worker_of(p));
    Interface& interface = builder.log(p).interfaces.front();
    interface.address = p == 0 ? "first" : "second";
    interface.worker = test::JobBuilder::kWorker;
  }
  const UcpIndex send = builder.send(0, 1, 7, 100, 30);
  const UctIndex transfer = builder.active_message(0, 1, wire::AmId::eager_only, 108, 31, {7});
  builder.from_ucp(transfer, send);
  builder.uct(transfer).start_tick = 31;
  Endpoint& to = builder.log(0).endpoints.front();
  to.remote = "second";
  to.peer_process = kNone;
  UcpOp& op = builder.ucp(send);
  op.peer_uid = 0;
  op.peer_process = kNone;

  SUBCASE("found") {
    link_peers(builder.job);
    CHECK(op.peer_process == ProcessIndex(1));
    CHECK(op.peer_uid == test::JobBuilder::uid(1));
  }
  SUBCASE("not from what a blocking call posted: it makes progress for others") {
    op.function = log::UcpFunction::put;
    link_peers(builder.job);
    CHECK(op.peer_process == kNone);
  }
  SUBCASE("not by an address that two processes have at that time") {
    builder.log(0).interfaces.front().address = "second";
    link_peers(builder.job);
    CHECK(op.peer_process == kNone);
  }
  SUBCASE("by an address that another process had before") {
    builder.log(0).interfaces.front().address = "second";
    builder.log(0).interfaces.front().end_tick = 0;
    builder.log(1).interfaces.front().tick = 1;
    to.connected_tick = 30;
    link_peers(builder.job);
    CHECK(op.peer_process == ProcessIndex(1));
  }
}

TEST_CASE("a closed endpoint's handle says nothing of who has it next") {
  test::JobBuilder builder(2);
  builder.log(1).workers.push_back(worker_of(1));
  UcpEndpoint row;
  row.handle = test::JobBuilder::endpoint_to(1);
  row.remote_uid = test::JobBuilder::uid(1);
  builder.log(0).ucp_endpoints.push_back(row);
  builder.ucp(builder.flush(log::UcpFunction::ep_close_nbx, 0, 50, 55)).handle = row.handle;
  const UcpIndex before = builder.send(0, 1, 7, 100, 40), after = builder.send(0, 1, 7, 100, 60);
  link_peers(builder.job);
  CHECK(builder.ucp(before).peer_process == ProcessIndex(1));
  CHECK(builder.ucp(after).peer_process == kNone);
}

TEST_CASE("a uid that two workers have at the same time names neither") {
  test::JobBuilder builder(3);
  for (const int p : {1, 2}) {
    Worker worker = worker_of(1);
    worker.tick = p == 1 ? 0 : 100;
    worker.end_tick = 200;
    builder.log(p).workers.push_back(worker);
  }
  for (const std::uint64_t tick : {50u, 150u}) {
    UcpEndpoint row;
    row.handle = tick;
    row.tick = tick;
    row.remote_uid = test::JobBuilder::uid(1);
    builder.log(0).ucp_endpoints.push_back(row);
  }
  link_peers(builder.job);
  CHECK(builder.log(0).ucp_endpoints[0].peer.process == ProcessIndex(1));
  CHECK(builder.log(0).ucp_endpoints[1].peer.process == kNone);
}

}  // namespace
}  // namespace uctrace::merge

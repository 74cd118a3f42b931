// Endpoints of UCP that are made by socket address: the one process listens, the other connects.
// Within a host over the loopback, so that other hosts use the same addresses for other processes.
#include "tests/tracegen/process_log.hpp"

namespace uctrace::tracegen {
namespace {

constexpr std::uint64_t kStepsOfConnection = 16;  // then a new one is made
constexpr std::uint64_t kNetworkNamespace = 4026531840;

// The lower rank is the client of a pair.
struct Pair {
  std::int32_t client, server;
};

log::SocketAddress address_of(const Shape& shape, Pair pair, bool of_server) {
  const std::int32_t host = shape.host_of(of_server ? pair.server : pair.client);
  const bool local = shape.host_of(pair.client) == shape.host_of(pair.server);
  const std::int32_t first = local ? shape.leader_of(host) : 0;
  const std::int32_t client = (pair.client - first) % 200, server = (pair.server - first) % 200;
  log::SocketAddress address{};
  address.version = 4;
  address.port =
      static_cast<std::uint16_t>(of_server ? 10'000 + server : 20'000 + 200 * client + server);
  const unsigned char bytes[] = {static_cast<unsigned char>(local ? 127 : 10), 0,
                                 static_cast<unsigned char>(local ? 0 : host >> 8),
                                 static_cast<unsigned char>(local ? 1 : host)};
  std::copy(std::begin(bytes), std::end(bytes), address.address);
  return address;
}

}  // namespace

std::uint64_t ProcessLog::connected_endpoint(std::int32_t peer, std::uint64_t step,
                                             std::int64_t at_ns) {
  const std::uint64_t own = shape_.connected_endpoint(rank_, peer);
  const std::uint64_t number = step / kStepsOfConnection + 1;
  if (connections_[static_cast<std::size_t>(peer)] == number) return own;
  connections_[static_cast<std::size_t>(peer)] = number;
  uct_endpoint(shape_.between(rank_, peer), peer, at_ns);
  const bool serves = rank_ > peer;
  const Pair pair = serves ? Pair{peer, rank_} : Pair{rank_, peer};
  // The client is notified while it creates the endpoint, the server after that.
  const std::int64_t told = step_ns_ - (serves ? 300 : 350), made = step_ns_ - (serves ? 320 : 200);
  log::UcpConnection connection{};
  connection.head.a = static_cast<std::uint16_t>(serves ? log::ConnectionSide::server
                                                        : log::ConnectionSide::client);
  connection.tick = clock_.tick(told);
  connection.handle = own;
  connection.network_namespace = kNetworkNamespace;
  connection.local = address_of(shape_, pair, serves);
  connection.remote = address_of(shape_, pair, !serves);
  log::UcpEndpoint endpoint{};
  endpoint.head.b =
      serves ? 10 : static_cast<std::uint32_t>(clock_.tick(made) - clock_.tick(made - 200));
  endpoint.tick = clock_.tick(made);
  endpoint.handle = own;
  endpoint.worker = handle::kWorker;
  if (serves) lanes_[0].define(endpoint, log::RecordType::ucp_endpoint, {}, made);
  lanes_[0].define(connection, log::RecordType::ucp_connection, {}, told);
  if (!serves) lanes_[0].define(endpoint, log::RecordType::ucp_endpoint, {}, made);
  return own;
}

}  // namespace uctrace::tracegen

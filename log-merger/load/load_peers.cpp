#include "log-merger/load/load_peers.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

namespace uctrace::merge {

namespace {

std::string text_of(log::Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Lengths keep two addresses apart.
std::string joined(log::Bytes first, log::Bytes second) {
  return fmt::format("{}:", first.size()) + text_of(first) + text_of(second);
}

constexpr unsigned char kMappedPrefix[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

// A server that listens on IPv6 sees IPv4 clients as mapped IPv6 addresses.
bool holds_ipv4(const log::SocketAddress& from) {
  return from.version == 6 && std::memcmp(from.address, kMappedPrefix, sizeof kMappedPrefix) == 0;
}

// Empty if not known. The same text on both sides of a connection.
std::string text_of(const log::SocketAddress& from) {
  if (from.version == 0) {
    return {};
  }
  char text[INET6_ADDRSTRLEN] = "";
  if (from.version == 4 || holds_ipv4(from)) {
    inet_ntop(AF_INET, from.address + (from.version == 4 ? 0 : sizeof kMappedPrefix), text,
              sizeof text);
    return fmt::format("{}:{}", text, from.port);
  }
  inet_ntop(AF_INET6, from.address, text, sizeof text);
  return fmt::format("[{}]:{}", text, from.port);
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address.starts_with("[::1]:");
}

}  // namespace

void PeerLoader::take(std::uint16_t lane, const log::UctInterfaceView& view) {
  if (lane != lane_) {
    lane_ = lane;
    interfaces_of_next_worker_.clear();
  }
  Interface row;
  row.id = view.interface_id();
  row.of_ucp = view.r.of_ucp != 0;
  row.bypassed = view.r.of_ucp == log::UctInterface::kByBypassedUcp;
  row.is_self = view.transport == "self";
  log_.ucp_has_self_transport |= row.of_ucp && row.is_self;
  row.transport = job_.run.texts.intern(view.transport);
  row.device = job_.run.texts.intern(view.device);
  row.memory_domain = job_.run.texts.intern(view.memory_domain);
  row.address = joined(view.device_address, view.interface_address);
  row.offered = view.r.offered;
  row.hooked = view.r.hooked;
  row.device_type = view.r.device_type;
  row.speed = view.r.speed;
  row.tick = view.r.tick;
  if (row.of_ucp && !row.bypassed) {
    interfaces_of_next_worker_.push_back(log_.interfaces.next_index());
  }
  log_.interfaces.push_back(std::move(row));
}

void PeerLoader::take(std::uint16_t lane, const log::UcpWorkerView& view) {
  log_.workers.push_back({.handle = view.r.handle,
                          .tick = view.r.tick,
                          .uid = view.r.uid,
                          .lane = lane,
                          .library = view.r.head.a,
                          .estimated_endpoints = view.r.estimated_endpoints,
                          .estimated_processes_of_node = view.r.estimated_processes_of_node});
  if (lane == lane_) {
    for (const InterfaceIndex at : interfaces_of_next_worker_) {
      log_.interfaces[at].worker = view.r.handle;
      log_.interfaces[at].worker_tick = view.r.tick;
    }
  }
  interfaces_of_next_worker_.clear();
}

void PeerLoader::take(const log::UctEndpointView& view) {
  Endpoint row;
  row.handle = view.r.handle;
  row.tick = view.r.tick;
  row.interface_id = view.interface_id();
  switch (view.type()) {
    case log::RecordType::uct_endpoint:
      if (!view.address.empty() || !view.device_address.empty()) {
        row.remote = joined(view.device_address, view.address);
        row.connected_tick = view.r.tick;
      }
      log_.endpoints.push_back(std::move(row));
      break;
    case log::RecordType::uct_endpoint_address:
      row.own_address = text_of(view.address);
      own_addresses_.push_back(std::move(row));
      break;
    default:
      row.remote = text_of(view.address);
      connects_.push_back(std::move(row));
  }
}

void PeerLoader::take(const log::UcpEndpointView& view) {
  const std::uint64_t duration = std::min<std::uint64_t>(view.r.head.b, view.r.tick);
  UcpEndpoint row;
  row.handle = view.r.handle;
  row.tick = view.r.tick;
  row.remote_uid = view.r.remote_uid;
  row.worker = view.r.worker;
  row.begin_tick = view.r.tick - duration;
  log_.ucp_endpoints.push_back(std::move(row));
}

void PeerLoader::take(const log::UcpConnectionView& view) {
  Connection connection{.side = view.side(),
                        .network_namespace = view.r.network_namespace,
                        .connected_ns = log_.clock.job_ns(view.r.tick),
                        .local = text_of(view.r.local),
                        .remote = text_of(view.r.remote)};
  connection.loopback = is_loopback(connection.local) || is_loopback(connection.remote);
  connections_.push_back({view.r.handle, view.r.tick, std::move(connection)});
}

void PeerLoader::take(const log::HandleEndView& view) {
  const End end{view.r.handle, view.r.tick};
  switch (view.type()) {
    case log::RecordType::ucp_worker_destroy:
      worker_ends_.push_back(end);
      break;
    case log::RecordType::uct_endpoint_destroy:
      endpoint_ends_.push_back(end);
      break;
    case log::RecordType::uct_interface_close:
      interface_ends_.push_back({view.r.head.a, view.r.tick});  // by its id
      break;
    default:
      break;
  }
}

void PeerLoader::finish_definitions() {
  std::stable_sort(log_.interfaces.begin(), log_.interfaces.end(),
                   [](const Interface& a, const Interface& b) {
                     return std::tie(a.id, a.tick) < std::tie(b.id, b.tick);
                   });
  for (const End& end : interface_ends_) {
    const auto at = log_.interface_at(static_cast<std::uint16_t>(end.handle), end.tick);
    if (at == kNone) continue;
    // Only once: a second end belongs to an interface whose definition is lost.
    Interface& row = log_.interfaces[at];
    row.end_tick = std::min(row.end_tick, end.tick);
  }
  sort_by_handle(log_.workers);
  for (const End& end : worker_ends_) {
    const auto at = row_at(log_.workers, end.handle, end.tick);
    if (at == kNone) continue;
    // Only once: a second end belongs to a worker of an unknown UCX.
    Worker& row = log_.workers[at];
    row.end_tick = std::min(row.end_tick, end.tick);
  }
  finish_endpoints();
  finish_ucp_endpoints();
}

void PeerLoader::finish_endpoints() {
  sort_by_handle(log_.endpoints);
  for (Endpoint& row : log_.endpoints) {
    row.interface = log_.interface_at(row.interface_id, row.tick);
  }
  for (const Endpoint& address : own_addresses_) {
    if (const auto at = row_at(log_.endpoints, address.handle, address.tick); at != kNone) {
      log_.endpoints[at].own_address = address.own_address;
    }
  }
  for (const Endpoint& connect : connects_) {
    if (const auto at = row_at(log_.endpoints, connect.handle, connect.tick); at != kNone) {
      Endpoint& row = log_.endpoints[at];
      row.remote = connect.remote;
      row.to_endpoint = true;
      row.connected_tick = connect.tick;
    }
  }
  for (const End& end : endpoint_ends_) {
    const auto at = row_at(log_.endpoints, end.handle, end.tick);
    if (at == kNone) continue;
    Endpoint& row = log_.endpoints[at];
    row.destroyed_tick = std::min(row.destroyed_tick, end.tick);
  }
}

void PeerLoader::finish_ucp_endpoints() {
  sort_by_handle(log_.ucp_endpoints);
  for (const ConnectionOf& connection : connections_) {
    if (UcpEndpoint* endpoint = endpoint_of(connection)) {
      endpoint->connection = connection.connection;
    }
  }
}

// The worker being made at that time, else the newest no later one.
UcpEndpoint* PeerLoader::endpoint_of(const ConnectionOf& connection) {
  Rows<UcpEndpoint>& rows = log_.ucp_endpoints;
  const auto next = std::partition_point(rows.begin(), rows.end(), [&](const UcpEndpoint& row) {
    return row.handle < connection.handle ||
           (row.handle == connection.handle && row.tick <= connection.tick);
  });
  if (next != rows.end() && next->handle == connection.handle &&
      next->begin_tick <= connection.tick) {
    return &*next;
  }
  const auto at = row_at(rows, connection.handle, connection.tick);
  return at == kNone ? nullptr : &rows[at];
}

}  // namespace uctrace::merge

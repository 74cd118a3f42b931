#include "log-merger/peers/connections.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace uctrace::merge {

namespace {

using log::ConnectionSide;

using Ends = std::vector<Index>;  // by time

struct Sides {
  Ends clients, servers;
};

class Pairing {
 public:
  Pairing(const std::vector<ConnectionEnd>& ends, std::int64_t clock_error_ns)
      : ends_(ends), clock_error_ns_(clock_error_ns), other_(ends.size(), kNone) {}

  std::vector<Index> run() {
    for (auto& [addresses, by_scope] : by_addresses()) {
      Sides left;
      std::size_t client_scopes = 0, server_scopes = 0;
      for (auto& [scope, sides] : by_scope) {
        pair_nearest(sides);
        // If a side is alone in its scope, the other end is elsewhere, or has no log.
        if (sides.clients.empty() || sides.servers.empty()) {
          client_scopes += !sides.clients.empty();
          server_scopes += !sides.servers.empty();
          append(left.clients, sides.clients);
          append(left.servers, sides.servers);
        }
      }
      if (client_scopes == 1 && server_scopes == 1 && !loopback(left.clients.front())) {
        pair_nearest(left);
      }
    }
    return std::move(other_);
  }

 private:
  using Scope = std::pair<std::string, std::uint64_t>;    // host and network namespace
  using Addresses = std::pair<std::string, std::string>;  // of client and server
  using ByAddresses = std::map<Addresses, std::map<Scope, Sides>>;

  const ConnectionEnd& end(Index index) const { return ends_[static_cast<std::size_t>(index)]; }
  std::int64_t time(Index index) const { return end(index).connection.connected_ns; }
  bool loopback(Index index) const { return end(index).connection.loopback; }
  static void append(Ends& to, const Ends& more) { to.insert(to.end(), more.begin(), more.end()); }

  ByAddresses by_addresses() const {
    ByAddresses groups;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const Connection& c = ends_[i].connection;
      if (c.local.empty() || c.remote.empty()) {
        continue;
      }
      const Scope scope{ends_[i].host, c.network_namespace};
      if (c.side == ConnectionSide::client) {
        groups[{c.local, c.remote}][scope].clients.push_back(static_cast<Index>(i));
      } else {
        groups[{c.remote, c.local}][scope].servers.push_back(static_cast<Index>(i));
      }
    }
    return groups;
  }

  void pair_nearest(Sides& sides) {
    for (Ends* ends : {&sides.clients, &sides.servers}) {
      std::stable_sort(ends->begin(), ends->end(),
                       [&](Index a, Index b) { return time(a) < time(b); });
    }
    for (const Index server : sides.servers) {
      const Index client = nearest(sides.clients, server);
      if (client != kNone && nearest(sides.servers, client) == server && possible(client, server)) {
        other_[static_cast<std::size_t>(server)] = client;
        other_[static_cast<std::size_t>(client)] = server;
      }
    }
  }

  // kNone also if two are equally near.
  Index nearest(const Ends& among, Index to) const {
    const auto after = std::partition_point(among.begin(), among.end(),
                                            [&](Index i) { return time(i) < time(to); });
    const auto distance = [&](Index i) { return std::abs(time(i) - time(to)); };
    Ends candidates;
    for (auto at = after - std::min<std::ptrdiff_t>(2, after - among.begin());
         at != among.end() && at < after + 2; ++at) {
      candidates.push_back(*at);
    }
    std::sort(candidates.begin(), candidates.end(),
              [&](Index a, Index b) { return distance(a) < distance(b); });
    const bool tied = candidates.size() > 1 && distance(candidates[0]) == distance(candidates[1]);
    return candidates.empty() || tied ? kNone : candidates[0];
  }

  bool possible(Index client, Index server) const {
    return end(client).host != end(server).host ||
           time(client) <= time(server) + 2 * clock_error_ns_;
  }

  const std::vector<ConnectionEnd>& ends_;
  std::int64_t clock_error_ns_;
  std::vector<Index> other_;
};

}  // namespace

std::vector<Index> pair_connections(const std::vector<ConnectionEnd>& ends,
                                    std::int64_t clock_error_ns) {
  return Pairing(ends, clock_error_ns).run();
}

void link_connections(Job& job) {
  struct Place {
    ProcessIndex process;
    UcpEndpoint* endpoint;
  };
  std::vector<ConnectionEnd> ends;
  std::vector<Place> places;
  for (std::size_t p = 0; p < job.logs.size(); ++p) {
    for (UcpEndpoint& endpoint : job.logs[p].ucp_endpoints) {
      if (endpoint.connection) {
        ends.push_back({*endpoint.connection, std::string(job.logs[p].file.boot_id())});
        places.push_back({ProcessIndex(p), &endpoint});
      }
    }
  }
  const std::vector<Index> others =
      pair_connections(ends, static_cast<std::int64_t>(std::min(
                                 job.clock_error_ns, static_cast<double>(log::kFarAwayNs))));
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (others[i] == kNone || places[i].endpoint->peer.process != kNone) {
      continue;
    }
    const Place& other = places[static_cast<std::size_t>(others[i])];
    const ProcessLog& log = job.logs[other.process];
    const auto worker = log.worker_at(other.endpoint->worker, other.endpoint->tick);
    places[i].endpoint->peer = {other.process, worker == kNone ? 0 : log.workers[worker].uid};
    places[i].endpoint->peer_by = PeerBy::connection;
  }
}

}  // namespace uctrace::merge

// Pairs the two ends of client-server connections. Private to log-merger/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

struct ConnectionEnd {
  Connection connection;
  std::string host;  // its boot id
};

// For each end the index of its other end, kNone unless exactly one is possible.
//
// A server's end belongs to the client with the same pair of addresses, seen from the other side. A
// pair of addresses may be reused: among several, the ones nearest in time on both sides are a
// pair; on one host the client is notified before the server. Several hosts and network namespaces
// may use the same private and loopback addresses: a connection within one namespace has both ends
// there, and one between namespaces is certain only if there is a single candidate on each side.
std::vector<Index> pair_connections(const std::vector<ConnectionEnd>& ends,
                                    std::int64_t clock_error_ns);

// Pairs the connections of the whole job and sets the peer of each endpoint.
void link_connections(Job& job);

}  // namespace uctrace::merge

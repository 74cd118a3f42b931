// Which two ends of client-server connections belong together. Private to log-merger/.
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

// For each end the index of its other end, kNone where none is the only one possible.
//
// A server's end is that of the client whose pair of addresses is its own, seen from the other
// side. A pair of addresses may be used again: of several the nearest in time on both sides are a
// pair, and on one host the client is told before the server. Private and loopback addresses may be
// used by several hosts and network namespaces: a connection within one namespace has both ends
// there, and one between namespaces is only certain if there is one of each side to choose from.
std::vector<Index> pair_connections(const std::vector<ConnectionEnd>& ends,
                                    std::int64_t clock_error_ns);

// Pairs the connections of the whole job and tells each endpoint its peer.
void link_connections(Job& job);

}  // namespace uctrace::merge

// What UCT endpoints come to, by transport and device (docs/connections.md).
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

struct ConnectionTotal {
  TextId transport = kNoText, device = kNoText;
  MadeBy made_by = MadeBy::program;
  std::uint64_t endpoints = 0;
  std::uint64_t unused = 0;                       // no operation of a message was posted on them
  std::uint64_t connected = 0;                    // were given the other end's address
  std::int64_t wireup_ns = 0, max_wireup_ns = 0;  // of these: from their making to that
  std::uint64_t waited = 0;                       // first messages that waited
  std::int64_t waited_ns = 0, max_waited_ns = 0;
  std::uint64_t payload_bytes = 0;
};

struct Connections {
  std::vector<ConnectionTotal> totals;  // the longest waited for first, then by payload and name
  std::vector<ConnectionRow> slowest;   // of which a message waited longest
};
// Reads the table once. At most `most` of the slowest.
Connections connections_of(const RowSource& source, std::size_t most);

}  // namespace uctrace

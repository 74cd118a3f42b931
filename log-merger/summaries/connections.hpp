// Totals of UCT endpoints by transport and device (docs/connections.md).
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

struct ConnectionTotal {
  TextId transport = kNoText, device = kNoText;
  MadeBy made_by = MadeBy::program;
  std::uint64_t endpoints = 0;
  std::uint64_t unused = 0;                       // no message used them
  std::uint64_t connected = 0;                    // got the other end's address
  std::int64_t wireup_ns = 0, max_wireup_ns = 0;  // of these: from creation to connection
  std::uint64_t waited = 0;                       // first messages that waited
  std::int64_t waited_ns = 0, max_waited_ns = 0;
  std::uint64_t payload_bytes = 0;
};

struct Connections {
  std::vector<ConnectionTotal> totals;  // longest wait first, then by payload and name
  std::vector<ConnectionRow> slowest;   // with the longest waits of messages
};
// Reads the table once. At most `most` of the slowest.
Connections connections_of(const RowSource& source, std::size_t most);

}  // namespace uctrace

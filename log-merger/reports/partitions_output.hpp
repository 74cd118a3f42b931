// The tables of `uctrace partitions` (docs/partitions.md):
// requests made by MPI_Psend_init and MPI_Precv_init, each with its match on the other side uses
// each start of a request: when its last partition was ready, and when it was complete lines
// overlaps of partitions of a send and a receive: when one was ready and the
//             other was seen to have arrived
// events      the nine events of partitioned communication
// polls       calls of MPI_Parrived that found nothing and were only counted
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>

#include "log-merger/reports/table.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

enum class PartitionsList : std::uint8_t { requests, uses, lines, events, polls };

struct PartitionsOptions {
  PartitionsList list = PartitionsList::requests;
  Format format = Format::table;
  std::optional<std::size_t> limit = {};
  Colour colour = Colour::off;
  std::size_t width = kAnyWidth;  // of text
};

Table partitions_table(const RowSource& source, PartitionsList list);
void write_partitions(std::ostream& out, const RowSource& source,
                      const PartitionsOptions& options);

}  // namespace uctrace

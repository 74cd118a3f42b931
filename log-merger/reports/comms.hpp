// The tables of `uctrace comms`: calls of MPI, or the transfers of their messages, summed by any of
// the dimensions below. Sums are exact, over all calls that the filter accepts.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/model/mpi_names.hpp"
#include "log-merger/reports/table.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

enum class CommsBy : std::uint8_t { comm, op, kind, rank, bucket, time, call_site, transport };

struct CommsFilter {
  std::vector<std::string> comm;  // names of either kind
  std::vector<std::string> mpi, rank, host;
  std::vector<std::string> kind;                // names of MpiKind
  std::optional<std::uint64_t> from_ns, to_ns;  // calls and messages that start in [from, to)
};

struct CommsOptions {
  std::vector<CommsBy> by = {CommsBy::comm, CommsBy::op};
  std::vector<std::uint64_t> buckets = {128, 1024, 8192, 65536, 262144, 1048576, 33554432};
  std::uint64_t interval_ns = 1'000'000'000;  // of CommsBy::time
  Format format = Format::table;
  std::optional<std::size_t> limit = {};
  Colour colour = Colour::off;
  std::size_t width = kAnyWidth;  // of text
};

// Throws Error for a filter value that does not occur in the run.
Table comms_table(const RowSource& source, const CommsFilter& filter, const CommsOptions& options);
void write_comms(std::ostream& out, const RowSource& source, const CommsFilter& filter,
                 const CommsOptions& options);

}  // namespace uctrace

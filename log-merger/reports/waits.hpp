// The output of `uctrace waits`: which ranks wait for which, whose work causes it, and how each
// rank spends its time. docs/waits.md explains the kinds of waits.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/reports/table.hpp"
#include "log-merger/row-source/row_source.hpp"

namespace uctrace {

// What the rows of the waits table are keyed by, besides their kind. `all`: everything but time.
enum class WaitsBy : std::uint8_t { all, pair, rank, call_site, call_path, comm, time, kind };

struct WaitsFilter {
  std::vector<std::string> rank = {};                     // that waited, or was waited for
  std::vector<std::string> host = {};                     // of either of these
  std::vector<std::string> comm = {};                     // names of either kind
  std::vector<std::string> mpi = {};                      // functions that waited
  std::vector<std::string> kind = {};                     // names of WaitKind
  std::optional<std::uint64_t> from_ns = {}, to_ns = {};  // waits that begin in [from, to)
};

struct WaitsOptions {
  WaitsBy by = WaitsBy::all;
  std::uint64_t interval_ns = 1'000'000'000;  // by time: length of a row
  Format format = Format::table;
  std::optional<std::size_t> limit = {};
  Colour colour = Colour::off;
  std::size_t width = kAnyWidth;  // of text
};

// POP's efficiencies, each between 0 and 1 (https://pop-coe.eu/node/69); -1 = not known, if several
// threads of a rank call MPI, or calls of a rank were not recorded. Useful time is time outside
// MPI, from the end of MPI_Init to the start of MPI_Finalize:
//   load balance = mean useful time / greatest useful time
//   communication = greatest useful time / runtime = serialisation * transfer
//   serialisation = greatest useful time / runtime over an ideal network
//   transfer = runtime over an ideal network / runtime
//   parallel = load balance * communication = mean useful time / runtime
struct Efficiencies {
  double parallel = -1, load_balance = -1, communication = -1, serialisation = -1, transfer = -1;
};
Efficiencies efficiencies_of(const Run& run);

// Throws Error for a value of the filter that the run does not have.
Table waits_table(const RowSource& source, const WaitsFilter& filter, const WaitsOptions& options);
void write_waits(std::ostream& out, const RowSource& source, const WaitsFilter& filter,
                 const WaitsOptions& options);

}  // namespace uctrace

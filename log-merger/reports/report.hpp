// The tables of `uctrace report`, exact sums over the selected rows of a run:
// contenders  which UCT operation over which transport carried how much (payload bytes and number
//             of transfers, over the hops of the selected messages that fit the hop criteria)
// mpi         messages and payload by the MPI function that asked, and of its calls: their time,
// the
//             bytes by their arguments (which calls on windows have too) and their communicators
// pairs       messages and payload by source and destination
// call_sites  calls, their time and bytes, by the line of the program that makes them
// protocol    messages, payload and latencies by UCP protocol, and by protocol and size
// gpu_nic     payload between memory and network cards of each host (gpu_nic.hpp)
// connections  UCT endpoints by transport and device, and what waited for them; of the whole run
// registration  calls that make memory known to others, by memory domain and function
// library     calls of libraries above UCX other than MPI, by function; of the whole run
// rails       what each network card carried, by its port and as recorded; of the whole run, so
// that
//             no filter chooses among it
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/reports/table.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

// Transfers that serve no message: wire-up, internal flushes and the like.
enum class WithoutMessage : std::uint8_t { left_out, counted };

struct Contender {
  TextId transport = kNoText, op = kNoText;
  std::uint64_t transfers = 0;
  std::uint64_t bytes = 0;       // payload
  std::uint64_t wire_bytes = 0;  // payload and headers passed to UCT
};

struct FunctionTotal {
  TextId function = kNoText;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  // For the calls; nullopt if the filter cannot select calls.
  std::optional<std::uint64_t> calls, time_ns, asked_bytes;
  std::set<TextId> comms;
};

struct PairTotal {
  Party source, destination;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

// Calls of a function from one place. UCP calls count only outside MPI.
struct CallSiteTotal {
  std::int32_t call_site = -1;  // into call_sites; -1 = in no stack outside of the libraries
  TextId function = kNoText;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;  // by their arguments
  std::uint64_t time_ns = 0;
  std::set<std::uint32_t> processes;
};

enum class ReportBy : std::uint8_t {
  contenders,
  mpi,
  pairs,
  call_sites,
  gpu_nic,
  protocol,
  rails,
  registration,
  connections,
  library,
  all
};

// Totals of a run's messages. Each list is sorted, largest payload first; ties by the next number,
// then by name.
struct TrafficTotals {
  std::vector<Contender> contenders;
  std::vector<FunctionTotal> functions;
  std::vector<PairTotal> pairs;
};
// The totals that a report `by` needs; the rows are read once for all of them.
TrafficTotals traffic_totals(const RowSource& source, const Filter& filter, ReportBy by,
                             WithoutMessage rest = WithoutMessage::left_out);
// Longest time first; events without a stack are left out.
std::vector<CallSiteTotal> totals_by_call_site(const RowSource& source, const Filter& filter);

struct ReportOptions {
  ReportBy by = ReportBy::all;
  Format format = Format::table;
  WithoutMessage without_message = WithoutMessage::left_out;
  std::optional<std::size_t> limit = {};  // rows of each table
  Colour colour = Colour::off;
  std::size_t width = kAnyWidth;  // of text
  bool only_findings = false;
  std::string folder = {};  // for printed commands; empty: not needed
};

// "# command | MPI | UCX | when | how long | processes": the first line for a person.
void write_run_line(std::ostream& out, const Run& run);

// "# settings: UCX_TLS=tcp (rank 3)"; nothing if none is set.
void write_settings_line(std::ostream& out, const Run& run);

// Throws Error for CSV of all tables: a CSV file holds one.
void write_report(std::ostream& out, const RowSource& source, const Filter& filter,
                  const ReportOptions& options);

}  // namespace uctrace

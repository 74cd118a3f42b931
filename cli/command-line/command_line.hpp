// The command line, parsed: one plain struct per verb. Nothing here has effects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/data-folder/data_choice.hpp"
#include "cli/data-folder/default_folder.hpp"
#include "event-log/format/kinds.hpp"
#include "log-merger/diff/diff_output.hpp"
#include "log-merger/exports/export.hpp"
#include "log-merger/live/top_output.hpp"
#include "log-merger/page-data/page_data.hpp"
#include "log-merger/placement/placement_output.hpp"
#include "log-merger/reports/comms.hpp"
#include "log-merger/reports/counter_tables.hpp"
#include "log-merger/reports/hang_output.hpp"
#include "log-merger/reports/info_output.hpp"
#include "log-merger/reports/messages_output.hpp"
#include "log-merger/reports/partitions_output.hpp"
#include "log-merger/reports/report.hpp"
#include "log-merger/reports/table.hpp"
#include "log-merger/reports/waits.hpp"
#include "log-merger/simulate/hypotheses.hpp"
#include "log-merger/simulate/simulate_output.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace::cli {

struct CheckCommand {
  std::filesystem::path folder = default_folder();
  Format format = Format::table;
  std::optional<std::size_t> limit;
  std::vector<std::string> program;  // a launcher line or a program; empty = this machine's MPIs
  DataChoice data;                   // the run to check
  std::string expect;                // empty: no run is checked
  bool wide = false;                 // text need not fit the terminal
};
struct RecordCommand {
  std::filesystem::path folder = default_folder();
  bool verbose = false;
  bool edit_line = true;            // of a launcher
  std::filesystem::path ucx;        // prefix of a rebuilt one; empty: the one that the job loads
                                    // anyway
  std::vector<std::string> layers;  // that record; empty: all
  log::StackMode stacks = log::StackMode::off;
  std::vector<std::string> start_on, stop_on;  // when events are recorded; empty: from the start
  std::uint64_t max_log_bytes = 0;             // of each process; 0: no bound
  bool polls = false;       // record also calls of MPI_Parrived that found nothing
  bool never_drop = false;  // the program waits instead of losing records
  bool no_helper = false;   // no thread of ours, for programs in a sandbox
  std::size_t helpers = 0;  // most threads of ours that pack; 0 = not given
  bool gpu_history = false;
  bool counters = false;       // are kept
  bool trace = false;          // record events as well as counters
  std::filesystem::path prof;  // PREFIX of profiles at the end; empty: none are written
  std::optional<std::size_t> prof_every_s;  // also while the job runs
  std::vector<std::string> program;         // and its arguments
};
struct MergeCommand {
  DataChoice data;
};
struct ReportCommand {
  DataChoice data;
  FilterSpec filter;
  ReportOptions options;
  bool wide = false;  // text need not fit the terminal
};
struct MessagesCommand {
  DataChoice data;
  FilterSpec filter;
  std::vector<std::uint64_t> ids;  // empty: all
  MessageOrder order = MessageOrder::time;
  Format format = Format::table;
  std::optional<std::size_t> limit;
  bool wide = false;  // text need not fit the terminal
};
struct DiffCommand {
  DataChoice a, b;
  diff::DiffOptions options;
  bool wide = false;  // text need not fit the terminal
};
struct CommsCommand {
  DataChoice data;
  CommsFilter filter;
  CommsOptions options;
  bool wide = false;  // text need not fit the terminal
};
struct WaitsCommand {
  DataChoice data;
  WaitsFilter filter;
  WaitsOptions options;
  bool wide = false;  // text need not fit the terminal
};
struct SimulateCommand {
  DataChoice data;
  Hypotheses hypotheses;
  SimulateOptions options;
  bool wide = false;  // text need not fit the terminal
};
struct PartitionsCommand {
  DataChoice data;
  PartitionsOptions options;
  bool wide = false;  // text need not fit the terminal
};
struct CountersCommand {
  std::filesystem::path folder = default_folder();
  CountersOptions options;
  std::filesystem::path prof, gather, matrices, directed;  // files to write; empty: none
  std::optional<std::size_t> every_s;  // write and print again until the job has ended
  std::string job;                     // which of the folder; empty: the newest
  bool wide = false;                   // text need not fit the terminal
};
struct TopCommand {
  std::filesystem::path folder = default_folder();
  live::TopOptions options;
  std::uint64_t interval_ns = 2'000'000'000;
  bool once = false;  // read twice, print, and end
  std::string job;    // which of the folder; empty: the newest
  bool wide = false;  // text need not fit the terminal
};
struct ServeCommand {
  std::filesystem::path folder = default_folder();
  bool metrics = false;  // must be given: nothing else can be served yet
  bool waits = false;    // waits for a job that has not begun
  std::string address = "127.0.0.1";
  std::size_t port = 29464;  // 0: any that is free
  std::size_t most_series = 10'000;
  std::string job;  // the only one to serve; empty: all
};
struct PlacementCommand {
  DataChoice data;
  PlacementOptions options;
  bool wide = false;  // text need not fit the terminal
};
struct InfoCommand {
  DataChoice data;
  InfoOptions options;
  bool wide = false;  // text need not fit the terminal
};
struct HangCommand {
  DataChoice data;
  HangOptions options;
  bool wide = false;  // text need not fit the terminal
};
struct ViewCommand {
  DataChoice data;
  std::filesystem::path output;  // empty = report.html in the folder, "-" = standard output
  std::filesystem::path before;  // data of an earlier run to compare with; empty: none
  PageOptions page;
  std::optional<std::uint64_t> limit;  // of operations in the page, or in a tile
  bool tiles = false;                  // a folder, of which `output` is the name
  bool serve = false;                  // over HTTP, in place of a file
  std::size_t port = 0;                // 0: any that is free
};
struct ExportCommand {
  DataChoice data;
  std::optional<ExportTo> to;    // must be given
  std::filesystem::path output;  // empty = beside the data
  P2pMirror p2p_mirror = P2pMirror::last_pready;
};
struct BuildUcxCommand {
  std::filesystem::path source;        // folder or tarball; empty = the distribution's
  std::filesystem::path prefix;        // empty = in the user's own data folder
  std::filesystem::path ucx_info;      // of the site's UCX; empty = the one in PATH
  std::vector<std::string> configure;  // further options
  std::optional<std::size_t> jobs;     // empty = all cores
  bool replace = false;                // an older build in prefix
  bool keep = false;                   // the build folder
  bool unpatched = false;              // without the hooks
};
// For shells that complete a value: prints the values that the run has, a line each.
struct ValuesCommand {
  std::string option;  // without its dashes
  std::filesystem::path folder = default_folder();
};
// Help and version: only prints a text.
struct PrintCommand {
  std::string text;
};

using Command = std::variant<CheckCommand, RecordCommand, MergeCommand, ReportCommand,
                             MessagesCommand, DiffCommand, CommsCommand, WaitsCommand,
                             SimulateCommand, PartitionsCommand, PlacementCommand, CountersCommand,
                             TopCommand, ServeCommand, HangCommand, InfoCommand, ViewCommand,
                             ExportCommand, BuildUcxCommand, ValuesCommand, PrintCommand>;

// Throws Error for anything unknown, with the nearest known word.
Command parse_command_line(const std::vector<std::string>& arguments);

}  // namespace uctrace::cli

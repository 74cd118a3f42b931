#include "cli/record_words.hpp"

#include <fmt/format.h>

#include <cstring>
#include <iostream>

#include "cli/counter_profiles.hpp"
#include "cli/data-folder/default_folder.hpp"
#include "event-log/reader/plain_text.hpp"
#include "log-merger/folder/launcher_line.hpp"
#include "log-merger/reports/table.hpp"

namespace uctrace::cli {

void say(const std::string& line) { std::cerr << "uctrace: " << plain_text(line) << std::endl; }

void say_warning(const std::string& line) { say("warning: " + line); }

namespace {

void say_processes(const JobLog& log) {
  for (const ProcessReport& process : log.processes) {
    say(fmt::format(
        "rank {} on {}, pid {}: {} events, {} dropped, {} MPI calls, {} UCP operations, "
        "{} UCT operations",
        process.rank, process.host, process.pid, process.events, process.dropped, process.mpi_calls,
        process.ucp_operations, process.uct_operations));
  }
}

constexpr const char* kNoCounters =
    "no counters were kept: there was no room for their files, or they could not be made (`uctrace "
    "info` tells); record into another folder with -o DIR";

}  // namespace

void say_before(const DataFolder& folder) {
  if (folder.state == DataFolder::State::unwritable) {
    say_warning(
        fmt::format("cannot record into {}: {}; the job runs unrecorded, choose another folder "
                    "with -o DIR",
                    folder.path.string(), folder.why));
    return;
  }
  if (!folder.moved_to.empty()) say("older data moved to " + folder.moved_to.string());
  say("recording into " + folder.path.string());
  if (folder.state == DataFolder::State::shared) {
    say_warning(
        fmt::format("the folder keeps an older job beside this one: {}; --job chooses between "
                    "them, the newest is shown",
                    folder.why));
  }
}

void say_end(const ProgramEnd& end) {
  if (end.signal == 0) return;
  say(fmt::format("the command was ended by signal {} ({})", end.signal, strsignal(end.signal)));
}

void say_after(const std::filesystem::path& data, const RecordCommand& command, const JobLog& kept,
               const JobLog& lost, const ProgramEnd& end) {
  const bool verbose = command.verbose, counters_only = command.counters && !command.trace;
  say_end(end);
  if (verbose) say_processes(kept);
  std::uint64_t events = 0, in_logs = 0, bytes = 0, dropped = 0;
  for (const ProcessReport& process : kept.processes) {
    events += process.events;
    in_logs += process.kept;
    bytes += process.log_bytes;
    dropped += process.dropped;
  }
  for (const std::string& line : warnings(kept, lost)) say_warning(line);
  const CounterFiles counters = command.counters ? counter_files_of(kept) : CounterFiles{};
  if (command.counters && counters.processes == 0) say_warning(kNoCounters);
  if (kept.processes.empty() || (counters_only && counters.processes == 0)) return;
  // Commands printed by a batch job are typed outside of it, where the default folder differs.
  const bool is_default = data == kDefaultFolder && default_folder() == kDefaultFolder;
  const std::string folder = is_default ? "" : " " + shell_word(data.string());
  const std::string newest =
      in_logs == events ? "" : fmt::format(", the newest {} are kept", in_logs);
  const std::string lost_some = dropped == 0 ? "" : fmt::format(", {} dropped", dropped);
  if (counters_only) {
    say(fmt::format("counters of {} process{}, {}; next: uctrace counters{}", counters.processes,
                    counters.processes == 1 ? "" : "es", format_bytes(bytes + counters.bytes),
                    folder));
    return;
  }
  say(fmt::format("{} event{} of {} process{}{}{}, {}; next: uctrace report{}", events,
                  events == 1 ? "" : "s", kept.processes.size(),
                  kept.processes.size() == 1 ? "" : "es", newest, lost_some, format_bytes(bytes),
                  folder));
}

void say_nothing(const DataFolder& folder, const ProgramEnd& end, const JobLog& kept) {
  if (folder.state == DataFolder::State::unwritable) return;  // said before
  if (end.exit_status == 0) {
    for (const std::string& line : warnings(kept, {})) say_warning(line);
    return;
  }
  say_warning(
      fmt::format("nothing was recorded: the command ended with status {} before a process that "
                  "loads uctrace used MPI or UCX",
                  end.exit_status));
}

}  // namespace uctrace::cli

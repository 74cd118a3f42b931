// What `record` reads from the logs after the job. Reads only the head and the lanes of each log,
// so it is cheap after a long job.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "event-log/format/file_layout.hpp"
#include "event-log/reader/liveness.hpp"
#include "event-log/reader/writer_state.hpp"
#include "log-merger/model/drop_words.hpp"

namespace uctrace::cli {

// One process, by the first page of its log.
struct ProcessReport {
  std::filesystem::path log;
  std::string host;
  std::uint32_t pid = 0;
  std::int32_t rank = -1, world_size = 0;
  std::array<log::LayerState, log::kLayers> layers{};
  bool closed = false;
  log::Life life = log::Life::unknown;
  std::uint32_t write_errno = 0;
  std::string file_system;
  bool drained = false;  // written by a thread, not mapped: its end may have waited for that in
                         // vain
  std::uint64_t packing_ns = 0,
                writing_ns = 0;  // for encoding the log's blocks, and for writing them
  std::uint64_t events = 0;      // recorded in the whole run
  std::uint64_t kept = 0;        // of these, in the log: the newest, if its size is bounded
  std::uint64_t dropped = 0;     // lost at the writer
  DropCounts dropped_by_cause{};
  std::uint64_t outside_window = 0;  // not recorded, because recording was off
  std::uint64_t untracked = 0;       // operations whose end is not known, for lack of a slot
  std::uint64_t mpi_calls = 0, ucp_operations = 0, uct_operations = 0;  // counted, recorded or not
  std::uint64_t log_bytes = 0;
  std::uint64_t chunk_bytes = 0;  // of a log without a helper (--no-helper)
};

struct JobLog {
  std::vector<ProcessReport> processes;
  std::vector<std::filesystem::path> unreadable;  // logs without a valid page
  bool folder_gone = false;
};

// The logs in `folder`, by name; none if it cannot be read.
std::vector<std::filesystem::path> logs_in(const std::filesystem::path& folder);

// Whether the process whose log begins with `page` may still write to it.
log::Life life_of(log::WriterState state, const log::ProcessPage& page,
                  const std::filesystem::path& path, std::uint64_t now_ns);

// The processes in `folder` of the `uctrace record` with this key; with an empty key, all. A folder
// that cannot be read has none. `now_ns`: the time of the folder's file server; 0 = this host's.
JobLog read_job_log(const std::filesystem::path& folder, const std::string& recording,
                    std::uint64_t now_ns = 0);

// Releases room that logs without a helper reserved and did not need: their processes make no
// system call for it. Only for closed logs: nobody writes there any more.
void give_back_room(const JobLog& log);

// Warnings about the recording, one line each; empty if all is well. `kept` holds the logs that
// stay, `lost` those of processes that could not write to the folder.
std::vector<std::string> warnings(const JobLog& kept, const JobLog& lost);

}  // namespace uctrace::cli

// What `record` asks of the logs once the job has ended. Reads each log's process page only, so it
// is cheap after a long job.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "event-log/file_layout.hpp"
#include "event-log/liveness.hpp"

namespace uctrace::cli {

// One process, from the page that leads its log.
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
  std::uint64_t packing_ns = 0,
                writing_ns = 0;      // for making the log's blocks, and for writing them
  std::uint64_t events = 0;          // recorded
  std::uint64_t dropped = 0;         // lost at the writer
  std::uint64_t outside_window = 0;  // not recorded, because recording was off
  std::uint64_t untracked = 0;  // operations whose end is not known: no slot was ready for them
  std::uint64_t mpi_calls = 0, ucp_operations = 0, uct_operations = 0;  // counted, recorded or not
  std::uint64_t log_bytes = 0;
};

struct JobLog {
  std::vector<ProcessReport> processes;
  std::vector<std::filesystem::path> unreadable;  // logs without a valid page
  bool folder_gone = false;
};

// The processes in `folder` of the `uctrace record` with this key; with an empty key, all. A folder
// that cannot be read has none. `now_ns`: the time of the folder's file server; 0 = this host's.
JobLog read_job_log(const std::filesystem::path& folder, const std::string& recording,
                    std::uint64_t now_ns = 0);

// What a person should know about how the recording went, one line each; empty if all is well.
// `kept` holds the logs that stay, `lost` those of processes that could not write where they
// should.
std::vector<std::string> warnings(const JobLog& kept, const JobLog& lost);

}  // namespace uctrace::cli

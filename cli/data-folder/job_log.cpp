#include "cli/data-folder/job_log.hpp"

#include <algorithm>
#include <chrono>

#include "cli/data-folder/file_times.hpp"
#include "event-log/format/file_systems.hpp"
#include "event-log/reader/error.hpp"
#include "event-log/reader/reader.hpp"
#include "log-merger/folder/launcher_line.hpp"
#include "log-merger/merge.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

ProcessReport report_of(const log::LogFile& log, const fs::path& path, std::uint64_t now_ns) {
  const log::ProcessPage& page = log.page();
  ProcessReport report{.log = path,
                       .host = std::string(log.host()),
                       .pid = page.pid,
                       .rank = page.world_rank,
                       .world_size = page.world_size,
                       .closed = page.closed == 1,
                       .life = life_of(log.state(), page, path, now_ns),
                       .write_errno = page.write_errno,
                       .file_system = log::file_system_of(page.file_system).name,
                       .drained = page.storage == log::Storage::drained,
                       .packing_ns = page.packing_ns,
                       .writing_ns = page.writing_ns,
                       .dropped = log.dropped_records(),
                       .dropped_by_cause = log.dropped_by_cause(),
                       .log_bytes = page.allocated_bytes + page.live_bytes,
                       .chunk_bytes = page.chunk_bytes};
  std::copy(std::begin(page.layers), std::end(page.layers), report.layers.begin());
  for (const log::LaneInfo& lane : log.lanes()) {
    report.events += lane.counters.recorded_events;
    for (const std::uint64_t count : lane.counters.outside_window) report.outside_window += count;
    report.untracked += lane.counters.ucp_untracked + lane.counters.uct_untracked;
    report.mpi_calls += lane.counters.mpi_calls;
    report.ucp_operations += lane.counters.ucp_operations;
    report.uct_operations += lane.counters.uct_posted_ok;
  }
  const std::uint64_t overwritten = log.overwritten_events();
  report.kept = report.events - std::min(report.events, overwritten);
  if (page.closed == 0 && page.storage == log::Storage::drained) {
    // The page of a killed process is older than the records after it. It may count an event that a
    // thread had begun and never finished.
    report.kept = log::count_packed_events(path);
    report.events = report.kept + overwritten;
  }
  return report;
}

}  // namespace

log::Life life_of(log::WriterState state, const log::ProcessPage& page, const fs::path& path,
                  std::uint64_t now_ns) {
  const bool closed = state == log::WriterState::closed;
  // If a log is closed, nobody needs to look for the writer.
  return log::life_of(
      closed, closed ? log::Sight::gone : log::sight_of_writer(page),
      {.heartbeat = page.heartbeat_realtime_ns, .modified = modified_ns(path), .now = now_ns});
}

std::vector<fs::path> logs_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == kLogSuffix) paths.push_back(it->path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

JobLog read_job_log(const fs::path& folder, const std::string& recording, std::uint64_t now_ns) {
  if (now_ns == 0) {
    now_ns = static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
  }
  JobLog result;
  std::error_code error;
  result.folder_gone = fs::status(folder, error).type() == fs::file_type::not_found;
  for (const fs::path& path : logs_in(folder)) {
    try {
      const log::LogFile log = log::LogFile::open_counters(path);
      if (recording.empty() || merge::is_job_of(log.job(), recording)) {
        result.processes.push_back(report_of(log, path, now_ns));
      }
    } catch (const Error&) {
      result.unreadable.push_back(path);
    }
  }
  std::sort(result.processes.begin(), result.processes.end(),
            [](const ProcessReport& a, const ProcessReport& b) { return a.rank < b.rank; });
  return result;
}

void give_back_room(const JobLog& log) {
  for (const ProcessReport& process : log.processes) {
    std::error_code error;
    const std::uint64_t size = fs::file_size(process.log, error);
    if (error || !process.closed || process.chunk_bytes == 0 || size <= process.log_bytes) continue;
    fs::permissions(process.log, fs::perms::owner_write, fs::perm_options::add, error);
    fs::resize_file(process.log, process.log_bytes, error);  // if it fails, the file is only larger
  }
}

}  // namespace uctrace::cli

#include "cli/data-folder/signs_of_life.hpp"

#include <fmt/format.h>

#include <vector>

#include "cli/data-folder/file_times.hpp"
#include "cli/data-folder/job_log.hpp"
#include "cli/data-folder/lease.hpp"
#include "event-log/reader/error.hpp"
#include "event-log/reader/log_head.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

std::string words(log::Life life, const std::string& host, const char* of_running) {
  const std::string on = host.empty() ? "" : " on " + host;
  if (life == log::Life::running) return fmt::format(fmt::runtime(of_running), on);
  return fmt::format("it cannot be told whether the job{} has ended", on);
}

}  // namespace

std::string sign_of_life(const fs::path& folder) {
  const std::uint64_t now = server_time_ns(folder);
  for (const FoundLease& lease : find_leases(folder, now)) {
    if (log::may_run(lease.life)) {
      return words(lease.life, lease.host, "a `uctrace record`{} waits for its job there");
    }
  }
  std::vector<fs::path> unreadable;
  for (const fs::path& path : logs_in(folder)) {
    try {
      const log::LogHead head = log::read_log_head(path);
      const log::Life life = life_of(head.state, head.page, path, now);
      if (log::may_run(life)) {
        return words(life, std::string(head.host()), "a job{} is still writing there");
      }
    } catch (const Error&) {
      unreadable.push_back(path);
    }
  }
  // A lease that is being made cannot be read yet.
  for (const fs::path& log : unreadable) {
    const std::uint64_t written = modified_ns(log);
    const log::Life life = log::life_of(false, log::Sight::hidden,
                                        {.heartbeat = written, .modified = written, .now = now});
    if (log::may_run(life)) return words(life, "", "a job{} is still writing there");
  }
  return "";
}

}  // namespace uctrace::cli

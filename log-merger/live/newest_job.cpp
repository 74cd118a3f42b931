#include "log-merger/live/newest_job.hpp"

#include <algorithm>
#include <map>
#include <system_error>

#include "event-log/reader/error.hpp"

namespace uctrace::live {

namespace fs = std::filesystem;
using log::CounterSnapshot;

std::string newest_job(const std::vector<CounterSnapshot>& processes) {
  // A process of an older job may start, or replace itself, while a newer job runs.
  std::map<std::string, std::uint64_t> began_ns;
  for (const CounterSnapshot& process : processes) {
    const auto [job, is_first] =
        began_ns.try_emplace(process.job(), process.page.started_realtime_ns);
    if (!is_first) job->second = std::min(job->second, process.page.started_realtime_ns);
  }
  const auto last =
      std::max_element(began_ns.begin(), began_ns.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return last == began_ns.end() ? std::string() : last->first;
}

void refuse_without_counters(const fs::path& folder) {
  std::error_code error;
  bool has_logs = false;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    has_logs |= it->path().extension() == ".ulog";
  }
  throw Error({.what = "no counters in " + folder.string(),
               .why = has_logs ? "its job was recorded without them" : "it has no counter files",
               .to_do = "record with --counters, or name another folder"});
}

}  // namespace uctrace::live

#include "log-merger/live/newest_job.hpp"

#include <algorithm>
#include <system_error>

#include "event-log/reader/error.hpp"

namespace uctrace::live {

namespace fs = std::filesystem;
using log::CounterSnapshot;

std::string newest_job(const std::vector<CounterSnapshot>& processes) {
  const auto last = std::max_element(
      processes.begin(), processes.end(), [](const CounterSnapshot& a, const CounterSnapshot& b) {
        return a.page.started_realtime_ns < b.page.started_realtime_ns;
      });
  return last == processes.end() ? std::string() : last->job();
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

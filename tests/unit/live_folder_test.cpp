// Which files of a folder are read again.
#include "log-merger/live/live_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "event-log/reader/liveness.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace uctrace::live {
namespace {

namespace fs = std::filesystem;

// A counter file without counters, of a process that runs: of this one.
log::CounterPage page_of_job(const char* job, std::uint64_t started_realtime_ns) {
  const log::ProcessName self = log::this_process();
  log::CounterPage page{};
  page.magic = log::kCounterMagic;
  page.version = log::kCounterVersion;
  page.page_bytes = page.written_bytes = log::kCounterPageBytes;
  page.storage = log::Storage::drained;
  page.world_rank = -1;
  page.pid = self.pid;
  page.pid_namespace = self.pid_namespace;
  page.time_namespace = self.time_namespace;
  page.start_time = self.start_time;
  page.started_realtime_ns = started_realtime_ns;
  std::snprintf(page.host, sizeof page.host, "%s", self.host.c_str());
  std::snprintf(page.boot_id, sizeof page.boot_id, "%s", self.boot_id.c_str());
  std::snprintf(page.job, sizeof page.job, "%s", job);
  return page;
}

void write_counters(const fs::path& path, const log::CounterPage& page) {
  std::vector<char> bytes(log::kCounterPageBytes);
  std::memcpy(bytes.data(), &page, sizeof page);
  // In place: the file stays the same.
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  if (!file) file.open(path, std::ios::binary | std::ios::out);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::vector<std::string> jobs_in(const LiveFolder& folder) {
  std::vector<std::string> jobs;
  for (const Reading* job : folder.jobs()) jobs.push_back(job->job());
  return jobs;
}

TEST_CASE("live folder: a file of an older job that is over is read once, until it changes") {
  const uctrace::test::TemporaryFolder folder;
  const fs::path old = folder / ("old" + std::string(log::kCounterSuffix)),
                 newest = folder / ("new" + std::string(log::kCounterSuffix));
  log::CounterPage page = page_of_job("old", 1);
  bool is_over = true;
  SUBCASE("closed") { page.closed = 1; }
  SUBCASE("killed") { page.start_time += 1; }
  SUBCASE("it may go on, which cannot be seen") {
    page.boot_id[0] ^= 1;
    page.heartbeat_realtime_ns = 1;  // long ago: it is silent
    is_over = false;
  }
  write_counters(old, page);
  write_counters(newest, page_of_job("new", 2));
  LiveFolder live(folder.path());
  live.read();
  CHECK(jobs_in(live) == std::vector<std::string>{"new"});
  CHECK(live.unread().empty());

  const fs::file_time_type written = fs::last_write_time(old);
  page.magic = 7;  // who reads it now says so
  write_counters(old, page);
  fs::last_write_time(old, written);
  live.read();
  CHECK(live.unread().size() == (is_over ? 0 : 1));

  fs::last_write_time(old, written + std::chrono::seconds(1));
  live.read();
  CHECK(live.unread().size() == 1);
  CHECK(jobs_in(live) == std::vector<std::string>{"new"});
}

}  // namespace
}  // namespace uctrace::live

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/check/checks.hpp"
#include "log-merger/reports/table.hpp"

namespace uctrace::cli::check {
namespace {

namespace fs = std::filesystem;

// A process of a large job opens hundreds of files and sockets besides the log; the recorder's own
// memory is 24 MiB and a program's libraries map some hundred MiB.
constexpr rlim_t kFewFiles = 256;
constexpr rlim_t kLittleMemory = rlim_t{2} << 30;
constexpr rlim_t kLittleLocked = rlim_t{64} << 20;
constexpr std::uint64_t kLittleSharedMemory = std::uint64_t{64} << 20;

rlim_t limit_of(int resource) {
  rlimit limit{};
  return getrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0 ? limit.rlim_cur
                                                                          : RLIM_INFINITY;
}

std::string text_of(rlim_t bytes) {
  return bytes == RLIM_INFINITY ? "unlimited" : format_bytes(bytes);
}

bool has_infiniband() {
  std::error_code error;
  return fs::exists("/sys/class/infiniband", error) &&
         !fs::is_empty("/sys/class/infiniband", error);
}

void check_files(Findings& findings, std::size_t& bad) {
  const rlim_t files = limit_of(RLIMIT_NOFILE);
  if (files >= kFewFiles) return;
  ++bad;
  findings.warning(kLimitsFiles, {.found = fmt::format("a process may open {} files", files),
                                  .why = "the log needs one besides those of the program, which "
                                         "has priority: without one nothing is recorded",
                                  .fix = "ulimit -n 4096"});
}

void check_memory(Findings& findings, std::size_t& bad) {
  const rlim_t memory = limit_of(RLIMIT_AS);
  if (memory >= kLittleMemory) return;
  ++bad;
  findings.warning(kLimitsMemory,
                   {.found = fmt::format("a process may map {} of memory", text_of(memory)),
                    .why = "the recorder maps up to 24 MiB and its log; where that does not fit, "
                           "records are dropped",
                    .fix = "ulimit -v unlimited"});
}

void check_file_size(Findings& findings, std::size_t& bad) {
  const rlim_t size = limit_of(RLIMIT_FSIZE);
  if (size == RLIM_INFINITY) return;
  ++bad;
  findings.warning(kLimitsFileSize,
                   {.found = fmt::format("a file may be {} long", text_of(size)),
                    .why = "a log takes 128 KiB and 4 to 19 bytes an event, and a second file of "
                           "up to 12 MiB while the process runs; beyond this size records are "
                           "dropped",
                    .fix = "ulimit -f unlimited"});
}

void check_locked(Findings& findings, std::size_t& bad) {
  const rlim_t locked = limit_of(RLIMIT_MEMLOCK);
  if (locked >= kLittleLocked || !has_infiniband()) return;
  ++bad;
  findings.warning(kLimitsLocked,
                   {.found = fmt::format("a process may lock {} of memory", text_of(locked)),
                    .why = "UCX cannot register buffers with the InfiniBand devices here",
                    .fix = "ulimit -l unlimited, or in /etc/security/limits.conf: * - memlock "
                           "unlimited"});
}

void check_shared_memory(Findings& findings, std::size_t& bad) {
  struct statvfs state {};
  if (statvfs("/dev/shm", &state) != 0) return;
  const std::uint64_t room = std::uint64_t{state.f_bavail} * state.f_frsize;
  if (room >= kLittleSharedMemory) return;
  ++bad;
  findings.warning(kLimitsSharedMemory,
                   {.found = fmt::format("/dev/shm has {} left", format_bytes(room)),
                    .why = "UCX's posix transport and both MPIs keep their queues there",
                    .fix = "as root: mount -o remount,size=2g /dev/shm, or start the container "
                           "with --shm-size=2g"});
}

}  // namespace

void check_limits(Findings& findings) {
  std::size_t bad = 0;
  check_files(findings, bad);
  check_memory(findings, bad);
  check_file_size(findings, bad);
  check_locked(findings, bad);
  check_shared_memory(findings, bad);
  if (bad != 0) return;
  findings.ok("limits",
              fmt::format("{} open files, memory {}, file size {}, locked memory {}",
                          limit_of(RLIMIT_NOFILE), text_of(limit_of(RLIMIT_AS)),
                          text_of(limit_of(RLIMIT_FSIZE)), text_of(limit_of(RLIMIT_MEMLOCK))));
}

}  // namespace uctrace::cli::check

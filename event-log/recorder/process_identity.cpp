#include "event-log/recorder/process_identity.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event-log/format/version.hpp"
#include "event-log/recorder/job_key.hpp"
#include "event-log/recorder/ticks.hpp"

namespace uctrace::log {

constinit Clock tick_clock = Clock::monotonic_raw;
constinit long test_drift_ppm = 0;

namespace {

std::size_t read_file(const char* path, char* out, std::size_t size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    out[0] = '\0';
    return 0;
  }
  const ssize_t n = read(fd, out, size - 1);
  close(fd);
  out[n > 0 ? n : 0] = '\0';
  out[strcspn(out, "\n")] = '\0';
  return strlen(out);
}

// A field of /proc/self/stat, counted from 1, after the command name (field 2), which may contain
// spaces and parentheses. nullptr: it cannot be read.
struct ProcessState {
  char text[1024];
  const char* field(int wanted) {
    read_file("/proc/self/stat", text, sizeof text);
    const char* at = strrchr(text, ')');
    for (int field = 2; at != nullptr && field < wanted; ++field) {
      at = strchr(at + 1, ' ');
    }
    return at == nullptr ? nullptr : at + 1;
  }
};

std::uint64_t process_start_time() {
  ProcessState state;
  const char* start = state.field(22);
  return start == nullptr ? 0 : strtoull(start, nullptr, 10);
}

// `link` names one of this process's namespaces.
std::uint64_t namespace_inode(const char* link) {
  struct stat st {};
  return stat(link, &st) == 0 ? st.st_ino : 0;
}

// Rank and size from the launchers' variables, the nearest launcher first.
void write_launch_place(ProcessPage& page) {
  struct Names {
    const char *rank, *size;
  };
  constexpr Names kNames[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                              {"PMI_RANK", "PMI_SIZE"},
                              {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
  for (const Names& names : kNames) {
    const char *rank = getenv(names.rank), *size = getenv(names.size);
    if (rank != nullptr && size != nullptr) {
      const long r = strtol(rank, nullptr, 10), n = strtol(size, nullptr, 10);
      if (0 <= r && r < n && n <= INT32_MAX) {
        page.launch_rank = static_cast<std::int32_t>(r);
        page.launch_size = static_cast<std::int32_t>(n);
      }
      return;
    }
  }
}

}  // namespace

std::uint64_t time_without_core_ns() {
  char text[64];
  if (read_file("/proc/thread-self/schedstat", text, sizeof text) == 0) {
    return monotonic_raw_ns();
  }
  char* second = nullptr;
  const bool is_counted = strtoull(text, &second, 10) != 0;  // its time on a core
  return is_counted ? strtoull(second, nullptr, 10) : monotonic_raw_ns();
}

std::uint32_t threads_after_main() {
  ProcessState state;
  const char* of_main = state.field(3);
  if (of_main == nullptr || *of_main != 'Z') {
    return 0;
  }
  const char* threads = state.field(20);
  const unsigned long count = threads == nullptr ? 0 : strtoul(threads, nullptr, 10);
  return count == 0 ? 0 : static_cast<std::uint32_t>(count - 1);  // the main thread still counts as
                                                                  // one
}

void fill_clock_name(ProcessPage& page) {
  read_file("/proc/sys/kernel/random/boot_id", page.boot_id, sizeof page.boot_id);
  page.time_namespace = namespace_inode("/proc/self/ns/time");
}

void fill_page(ProcessPage& page) {
  page.version = kFormatVersion;
  page.page_bytes = kProcessPageBytes;
  snprintf(page.tool_version, sizeof page.tool_version, "%s", kToolVersion);
  gethostname(page.host, sizeof page.host - 1);
  page.pid_namespace = namespace_inode("/proc/self/ns/pid");
  fill_clock_name(page);
  page.pid = static_cast<std::uint32_t>(getpid());
  page.parent_pid = static_cast<std::uint32_t>(getppid());
  page.start_time = process_start_time();
  write_job_key(page.job, sizeof page.job);
  page.clock = tick_clock;
  page.world_rank = -1;
  write_launch_place(page);
  page.allocated_bytes = kProcessPageBytes;
  page.anchors[0] = take_anchor();
  page.anchor_count = 1;
  page.heartbeat_realtime_ns = page.anchors[0].realtime_ns;
  page.magic = kMagic;
}

std::uint64_t memory_budget() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return UINT64_MAX;
  }
  char pages[128];
  read_file("/proc/self/statm", pages, sizeof pages);
  const std::uint64_t used =
      strtoull(pages, nullptr, 10) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return used < limit.rlim_cur ? (limit.rlim_cur - used) / 8 : 0;
}

Clock choose_clock() {
  // For tests of clocks that drift: a cycle counter cannot be bent.
  if (const char* drift = getenv("UCTRACE_TEST_CLOCK")) {
    test_drift_ppm = atol(drift);
    return Clock::monotonic_raw;
  }
  char source[32];
  read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
            sizeof source);
#if defined(__x86_64__)
  if (strcmp(source, "tsc") == 0) {
    return Clock::tsc;
  }
#elif defined(__aarch64__)
  if (strcmp(source, "arch_sys_counter") == 0) {
    return Clock::cntvct;
  }
#endif
  return Clock::monotonic_raw;
}

// The tick is read between two reads of the reference clock; the tightest of several tries wins, so
// a preemption in between does not distort the time axis.
Anchor take_anchor() {
  Anchor best{};
  std::uint64_t tightest = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = monotonic_raw_ns();
    const std::uint64_t tick = now();
    timespec real{};
    clock_gettime(CLOCK_REALTIME, &real);
    const std::uint64_t after = monotonic_raw_ns();
    if (after - before < tightest) {
      tightest = after - before;
      best.tick = tick;
      best.monotonic_ns = tick_clock == Clock::monotonic_raw ? tick : before + tightest / 2;
      best.realtime_ns = static_cast<std::uint64_t>(real.tv_sec) * 1'000'000'000u +
                         static_cast<std::uint64_t>(real.tv_nsec);
    }
  }
  return best;
}

}  // namespace uctrace::log

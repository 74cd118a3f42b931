#include "event-log/output_log.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event-log/ticks.hpp"
#include "event-log/version.hpp"

namespace uctrace::log {

constinit Clock tick_clock = Clock::monotonic_raw;

namespace {

constexpr std::size_t kPageBytes = 4096;

// UCM patches the libc functions of the same names to watch the program's memory; ours are none of
// its business, hence the direct calls.
void* raw_mmap(std::size_t bytes, int flags, int fd, std::uint64_t offset) {
  const long at = syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, offset);
  return at == -1 ? nullptr : reinterpret_cast<void*>(at);
}

// Faults every page in for writing: MAP_POPULATE maps shared file pages read-only. False with errno
// set: the file system has no room after all (one that copies on write).
bool touch(void* memory, std::size_t bytes) {
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14
  if (syscall(SYS_madvise, memory, bytes, kPopulateWrite) == 0) {
    return true;
  }
  if (errno == EFAULT) {
    errno = ENOSPC;
    return false;
  }
  auto* at = static_cast<volatile unsigned char*>(memory);
  for (std::size_t i = 0; i < bytes; i += kPageBytes) {
    at[i] = 0;
  }
  return true;
}

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

// Field 22 of /proc/self/stat; the command name (field 2) may hold spaces and parentheses.
std::uint64_t process_start_time() {
  char text[1024];
  read_file("/proc/self/stat", text, sizeof text);
  char* at = strrchr(text, ')');
  for (int field = 2; at != nullptr && field < 22; ++field) {
    at = strchr(at + 1, ' ');
  }
  return at == nullptr ? 0 : strtoull(at + 1, nullptr, 10);
}

std::uint64_t pid_namespace() {
  struct stat st {};
  return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

std::uint32_t parent_of(std::uint32_t pid) {
  char path[40], text[1024];
  snprintf(path, sizeof path, "/proc/%u/stat", pid);
  read_file(path, text, sizeof text);
  const char* name_end = strrchr(text, ')');
  unsigned parent = 0;
  return name_end != nullptr && sscanf(name_end + 1, " %*c %u", &parent) == 1 ? parent : 0;
}

// Hydra gives its jobs no name in the environment. Its proxy, an ancestor of every rank, is told
// the launcher's control port on its command line: host and port of this one launcher.
void find_hydra_port(char* out, std::size_t size) {
  constexpr char kOption[] = "--control-port";  // an argument of its own: the zero counts
  constexpr int kGenerations = 8;               // shells and wrappers may lie in between
  std::uint32_t pid = static_cast<std::uint32_t>(getppid());
  for (int i = 0; i < kGenerations && pid > 1; ++i, pid = parent_of(pid)) {
    char path[40], text[2048];
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0) {
      close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
    const void* option =
        n > 0 ? memmem(text, static_cast<std::size_t>(n), kOption, sizeof kOption) : nullptr;
    if (option != nullptr) {
      snprintf(out, size, "hydra-%s", static_cast<const char*>(option) + sizeof kOption);
      return;
    }
  }
}

// The launcher's own name for the job where it has one; `uctrace record` sets UCTRACE_JOB.
void write_job_key(char* out, std::size_t size) {
  const char* step = getenv("SLURM_STEP_ID");
  if (const char* key = getenv("UCTRACE_JOB")) {
    snprintf(out, size, "%s", key);
  } else if (const char* space = getenv("PMIX_NAMESPACE")) {
    snprintf(out, size, "pmix-%s", space);
  } else if (const char* slurm = getenv("SLURM_JOB_ID")) {
    snprintf(out, size, "slurm-%s.%s", slurm, step != nullptr ? step : "0");
  } else if (getenv("PMI_RANK") != nullptr) {
    find_hydra_port(out, size);
  }
}

void fill_page(ProcessPage& page) {
  page.version = kFormatVersion;
  page.page_bytes = kProcessPageBytes;
  snprintf(page.tool_version, sizeof page.tool_version, "%s", kToolVersion);
  gethostname(page.host, sizeof page.host - 1);
  read_file("/proc/sys/kernel/random/boot_id", page.boot_id, sizeof page.boot_id);
  page.pid_namespace = pid_namespace();
  page.pid = static_cast<std::uint32_t>(getpid());
  page.parent_pid = static_cast<std::uint32_t>(getppid());
  page.start_time = process_start_time();
  write_job_key(page.job, sizeof page.job);
  page.clock = tick_clock;
  page.world_rank = -1;
  page.allocated_bytes = kProcessPageBytes;
  page.anchors[0] = take_anchor();
  page.anchor_count = 1;
  page.magic = kMagic;
}

bool write_path(char* out, std::size_t size, const char* folder, const ProcessPage& identity) {
  const int n = snprintf(out, size, "%s/%s-%.8s-%llu-%u-%llu.ulog", folder, identity.host,
                         identity.boot_id, static_cast<unsigned long long>(identity.pid_namespace),
                         identity.pid, static_cast<unsigned long long>(identity.start_time));
  return n > 0 && static_cast<std::size_t>(n) < size;
}

bool open_in(OutputLog& file, const char* folder, const ProcessPage& identity) {
  char path[4096];
  if (folder == nullptr || folder[0] == '\0' || !write_path(path, sizeof path, folder, identity)) {
    errno = folder == nullptr || folder[0] == '\0' ? ENOENT : ENAMETOOLONG;
    return false;
  }
  file.fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file.fd < 0) {
    return false;
  }
  file.bytes = 0;
  void* memory = grow_output_log(file, kProcessPageBytes);
  if (memory == nullptr) {
    const int reason = errno;
    close(file.fd);
    unlink(path);  // nothing is in it that could be read
    file.fd = -1;
    errno = reason;
    return false;
  }
  memcpy(memory, &identity, sizeof identity);
  file.page = static_cast<ProcessPage*>(memory);
  return true;
}

}  // namespace

OutputLog create_output_log() {
  ProcessPage identity{};
  fill_page(identity);
  OutputLog file;
  if (open_in(file, getenv("UCTRACE_DIR"), identity)) {
    file.grows = true;
    return file;
  }
  const int reason = errno;
  if (open_in(file, getenv("UCTRACE_FALLBACK_DIR"), identity)) {
    file.page->write_errno = static_cast<std::uint32_t>(reason);
  }
  return file;
}

void* grow_output_log(OutputLog& file, std::size_t bytes) {
  if (syscall(SYS_fallocate, file.fd, 0, file.bytes, bytes) != 0 && errno != EOPNOTSUPP) {
    return nullptr;
  }
  // Written once the plain way, also where the space is reserved: a page that is dirty in the page
  // cache already costs the first store a fifth of one that has to be made then.
  static constinit const char zeros[64 * 1024] = {};
  for (std::size_t done = 0; done < bytes; done += sizeof zeros) {
    errno = 0;
    if (pwrite(file.fd, zeros, sizeof zeros, static_cast<off_t>(file.bytes + done)) !=
        static_cast<ssize_t>(sizeof zeros)) {
      errno = errno != 0 ? errno : ENOSPC;  // a short write: the rest does not fit
      return nullptr;
    }
  }
  void* memory = raw_mmap(bytes, MAP_SHARED, file.fd, file.bytes);
  if (memory == nullptr) {
    return nullptr;
  }
  syscall(SYS_madvise, memory, bytes, MADV_DONTFORK);
  if (!touch(memory, bytes)) {
    const int reason = errno;
    syscall(SYS_munmap, memory, bytes);
    errno = reason;
    return nullptr;
  }
  file.bytes += bytes;
  return memory;
}

void unmap_chunk(void* chunk) {
  const std::uint32_t bytes = static_cast<ChunkHeader*>(chunk)->bytes;
  syscall(SYS_munmap, chunk, static_cast<std::size_t>(bytes));
}

void trim_output_log(OutputLog& file, std::uint64_t end) {
  if (end < file.bytes && ftruncate(file.fd, static_cast<off_t>(end)) == 0) {
    file.bytes = end;
    file.page->allocated_bytes = end;
  }
}

void* map_slab(std::size_t bytes) {
  return raw_mmap(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
}

Clock choose_clock() {
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

// The tick is read between two reads of the reference clock; of several tries the tightest wins, so
// that a preemption in between does not bend the time axis.
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

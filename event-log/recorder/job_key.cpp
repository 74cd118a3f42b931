#include "event-log/recorder/job_key.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cstdint>

#include "event-log/format/fnv.hpp"

namespace uctrace::log {
namespace {

constexpr std::size_t kNameBytes = 256;
// What fits after the 32 characters of UCTRACE_JOB; a longer name is replaced by its hash.
constexpr std::size_t kLongestName = 30;

// Reads the beginning of /proc/PID/`file` and terminates it with zero. Returns the length; 0 if it
// cannot be read.
std::size_t read_of_process(std::uint32_t pid, const char* file, char* text, std::size_t size) {
  char path[40];
  snprintf(path, sizeof path, "/proc/%u/%s", pid, file);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd >= 0 ? read(fd, text, size - 1) : 0;
  if (fd >= 0) {
    close(fd);
  }
  const std::size_t length = n > 0 ? static_cast<std::size_t>(n) : 0;
  text[length] = '\0';
  return length;
}

std::uint32_t parent_of(std::uint32_t pid) {
  char text[1024];
  read_of_process(pid, "stat", text, sizeof text);
  // The command name before may contain spaces and parentheses.
  const char* name_end = strrchr(text, ')');
  unsigned parent = 0;
  return name_end != nullptr && sscanf(name_end + 1, " %*c %u", &parent) == 1 ? parent : 0;
}

// Hydra gives its jobs no name in the environment. Its proxy, an ancestor of every rank, has the
// launcher's control port on its command line: the host and port of this launcher.
bool find_hydra_port(char* out, std::size_t size) {
  constexpr char kOption[] = "--control-port";  // a separate argument: the zero counts
  constexpr int kGenerations = 32;              // shells and wrappers may lie in between
  std::uint32_t pid = static_cast<std::uint32_t>(getppid());
  for (int i = 0; i < kGenerations && pid > 1; ++i, pid = parent_of(pid)) {
    char text[2048];
    const std::size_t length = read_of_process(pid, "cmdline", text, sizeof text);
    const void* option = memmem(text, length, kOption, sizeof kOption);
    if (option != nullptr) {
      snprintf(out, size, "hydra-%s", static_cast<const char*>(option) + sizeof kOption);
      return true;
    }
  }
  return false;
}

// Open MPI numbers the worlds of a job: up to version 4 in the low 16 bits of a number, from 5 on
// after "@".
void write_pmix_name(char* out, std::size_t size, const char* space) {
  char* end = nullptr;
  const unsigned long long number = strtoull(space, &end, 10);
  if (end != space && *end == '\0') {
    snprintf(out, size, "pmix-%llu", number >> 16);
  } else if (strncmp(space, "prterun-", strlen("prterun-")) == 0) {
    snprintf(out, size, "pmix-%.*s", static_cast<int>(strcspn(space, "@")), space);
  } else {
    snprintf(out, size, "pmix-%s", space);
  }
}

struct LauncherVariable {
  const char* variable;
  const char* launcher;
};
constexpr LauncherVariable kLauncherVariables[] = {
    {"PALS_APID", "pals"}, {"ALPS_APP_ID", "alps"}, {"FLUX_JOB_ID", "flux"}};

}  // namespace

void write_launch_name(char* out, std::size_t size) {
  out[0] = '\0';
  // The nearest first: a launcher may run inside the job of a resource manager.
  if (getenv("PMI_RANK") != nullptr && find_hydra_port(out, size)) {
    return;
  }
  if (const char* space = getenv("PMIX_NAMESPACE")) {
    write_pmix_name(out, size, space);
    return;
  }
  for (const LauncherVariable& known : kLauncherVariables) {
    if (const char* id = getenv(known.variable)) {
      snprintf(out, size, "%s-%s", known.launcher, id);
      return;
    }
  }
  const char* step = getenv("SLURM_STEP_ID");
  if (const char* slurm = getenv("SLURM_JOB_ID")) {
    snprintf(out, size, step != nullptr ? "slurm-%s.%s" : "slurm-%s", slurm, step);
    return;
  }
  // In a container the launcher may be out of sight: `uctrace record` outside has seen it.
  if (const char* seen = getenv("UCTRACE_LAUNCH")) {
    snprintf(out, size, "%s", seen);
  }
}

void write_job_key(char* out, std::size_t size) {
  char name[kNameBytes];
  write_launch_name(name, sizeof name);
  if (strlen(name) > kLongestName) {
    const std::uint64_t hash = fnv64(name);
    snprintf(name, sizeof name, "launch-%016llx", static_cast<unsigned long long>(hash));
  }
  const char* job = getenv("UCTRACE_JOB");
  const bool both = job != nullptr && name[0] != '\0';
  snprintf(out, size, "%s%s%s", job != nullptr ? job : "", both ? "." : "", name);
}

}  // namespace uctrace::log

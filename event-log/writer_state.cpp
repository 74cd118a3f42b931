#include "event-log/writer_state.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace uctrace::log {
namespace {

template <std::size_t kCapacity>
std::string_view text_in(const char (&array)[kCapacity]) {
  return {array, strnlen(array, kCapacity)};
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::uint64_t own_namespace(const char* path) {
  struct stat status {};
  return stat(path, &status) == 0 ? status.st_ino : 0;
}

// Process ids and start times mean the same here and there. Start times are told in the clock of
// the time namespace that asks.
bool in_sight(const ProcessPage& page) {
  // Cut like the writer's, which is why a name that is too long is no error.
  char this_host[sizeof page.host] = {};
  gethostname(this_host, sizeof this_host - 1);
  return text_in(page.host) == this_host && page.boot_id[0] != '\0' &&
         text_in(page.boot_id) == first_line("/proc/sys/kernel/random/boot_id") &&
         page.pid_namespace == own_namespace("/proc/self/ns/pid") &&
         page.time_namespace == own_namespace("/proc/self/ns/time");
}

struct ProcessStat {
  char state = '?';
  std::uint64_t threads = 0, start_time = 0;
};

std::optional<ProcessStat> stat_of(std::uint32_t pid) {
  const std::string line = first_line("/proc/" + std::to_string(pid) + "/stat");
  // The second field is the command in parentheses and may hold any character.
  const std::size_t end_of_command = line.rfind(')');
  if (end_of_command == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(end_of_command + 1));
  ProcessStat stat;
  std::string skipped;
  fields >> stat.state;
  for (int field = 4; field <= 19; ++field) fields >> skipped;
  fields >> stat.threads >> skipped >> stat.start_time;
  return fields ? std::optional(stat) : std::nullopt;
}

// A process whose first thread ended, and others did not, is a zombie that runs.
bool is_over(const ProcessStat& stat) {
  return stat.state == 'X' || stat.state == 'x' || (stat.state == 'Z' && stat.threads <= 1);
}

}  // namespace

WriterState look_for_writer(const ProcessPage& page) {
  if (page.magic != kMagic || page.pid == 0 || !in_sight(page)) return WriterState::unseen;
  const std::optional<ProcessStat> stat = stat_of(page.pid);
  if (!stat) {
    // /proc may be mounted so that it hides the processes of others.
    const bool gone = kill(static_cast<pid_t>(page.pid), 0) != 0 && errno == ESRCH;
    return gone ? WriterState::dead : WriterState::unseen;
  }
  if (page.start_time == 0) return WriterState::unseen;  // it could not tell
  const bool runs = stat->start_time == page.start_time && !is_over(*stat);
  return runs ? WriterState::running : WriterState::dead;
}

bool same_writer(const ProcessPage& a, const ProcessPage& b) {
  return text_in(a.host) == text_in(b.host) && text_in(a.boot_id) == text_in(b.boot_id) &&
         a.pid_namespace == b.pid_namespace && a.pid == b.pid && a.start_time == b.start_time &&
         a.image == b.image;
}

}  // namespace uctrace::log

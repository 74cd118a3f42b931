#include "event-log/reader/liveness.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>

#include "event-log/format/file_layout.hpp"

namespace uctrace::log {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

struct ProcessStat {
  char state = '?';
  std::uint64_t threads = 0, start_time = 0;
};

std::optional<ProcessStat> stat_of(const std::string& pid) {
  const std::string line = first_line("/proc/" + pid + "/stat");
  // The second field is the command in parentheses and may contain any character.
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

// A process whose main thread has ended but others have not is a zombie that still runs.
bool is_over(const ProcessStat& stat) {
  return stat.state == 'X' || stat.state == 'x' || (stat.state == 'Z' && stat.threads <= 1);
}

std::uint64_t own_namespace(const char* path) {
  struct stat status {};
  return ::stat(path, &status) == 0 ? status.st_ino : 0;
}

// Whether /proc belongs to this process's PID namespace: if a container has its host's /proc, the
// numbers there are of other processes.
bool proc_is_own() {
  char number[32] = {};
  return ::readlink("/proc/self", number, sizeof number - 1) > 0 &&
         number == std::to_string(::getpid());
}

// this_process() without its own identity.
ProcessName this_place() {
  // Truncated like a log's: so a name that is too long is not an error.
  char host[sizeof ProcessPage::host] = {};
  ::gethostname(host, sizeof host - 1);
  return {.host = host,
          .boot_id = first_line("/proc/sys/kernel/random/boot_id"),
          .pid_namespace = own_namespace("/proc/self/ns/pid"),
          .time_namespace = own_namespace("/proc/self/ns/time")};
}

}  // namespace

std::string process_key(const ProcessName& process, std::uint32_t image) {
  return process.host + ':' + process.boot_id + ':' + std::to_string(process.pid_namespace) + ':' +
         std::to_string(process.pid) + ':' + std::to_string(process.start_time) +
         (image > 0 ? ':' + std::to_string(image) : "");
}

Life life_of(bool closed, Sight sight, const Signs& signs) {
  if (closed) return Life::closed;
  if (sight == Sight::runs) return Life::running;
  if (sight == Sight::gone) return Life::dead;
  bool any_before = false;
  for (const std::uint64_t sign : {signs.heartbeat, signs.modified}) {
    if (sign == 0) continue;
    const bool is_before = sign <= signs.now;
    if ((is_before ? signs.now - sign : sign - signs.now) < kSilenceNs) return Life::running;
    any_before |= is_before;
  }
  // Without any earlier sign, silence means nothing.
  return signs.heartbeat != 0 && any_before ? Life::no_sign : Life::unknown;
}

Sight look_for(const ProcessName& process) {
  const ProcessName here = this_place();
  // Without /proc there is no boot id and no namespace, and nothing can be seen.
  if (process.pid == 0 || !proc_is_own() || here.boot_id.empty() || here.pid_namespace == 0 ||
      process.host != here.host || process.boot_id != here.boot_id ||
      process.pid_namespace != here.pid_namespace ||
      process.time_namespace != here.time_namespace) {
    return Sight::hidden;
  }
  const std::optional<ProcessStat> stat = stat_of(std::to_string(process.pid));
  if (!stat) {
    // /proc may be mounted so that it hides the processes of others.
    const bool gone = ::kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH;
    return gone ? Sight::gone : Sight::hidden;
  }
  if (process.start_time == 0) return Sight::hidden;
  const bool runs = stat->start_time == process.start_time && !is_over(*stat);
  return runs ? Sight::runs : Sight::gone;
}

ProcessName this_process() {
  ProcessName name = this_place();
  name.pid = static_cast<std::uint32_t>(::getpid());
  const std::optional<ProcessStat> stat = stat_of("self");
  name.start_time = stat ? stat->start_time : 0;
  return name;
}

}  // namespace uctrace::log

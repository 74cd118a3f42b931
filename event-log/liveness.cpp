#include "event-log/liveness.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "event-log/file_layout.hpp"

namespace uctrace::log {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Start time of a process of this PID namespace; nothing if there is none, or only its zombie.
std::optional<std::uint64_t> start_time_of(const std::string& pid) {
  const std::string line = first_line("/proc/" + pid + "/stat");
  // The second field is the command in parentheses and may hold any character.
  const std::size_t end_of_command = line.rfind(')');
  if (end_of_command == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(end_of_command + 1));
  std::string state, skipped;
  fields >> state;
  for (int field = 4; field <= 21; ++field) fields >> skipped;
  std::uint64_t start_time = 0;
  if (state == "Z" || state == "X" || !(fields >> start_time)) return std::nullopt;
  return start_time;
}

// Everything of `this_process()` but which one it is.
ProcessName this_place() {
  // Cut like a log's, which is why a name that is too long is no error.
  char host[sizeof ProcessPage::host] = {};
  ::gethostname(host, sizeof host - 1);
  struct stat own_namespace {};
  const bool known = ::stat("/proc/self/ns/pid", &own_namespace) == 0;
  return {.host = host,
          .boot_id = first_line("/proc/sys/kernel/random/boot_id"),
          .pid_namespace = known ? own_namespace.st_ino : 0};
}

}  // namespace

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
  // Who never gave a sign is not missed.
  return signs.heartbeat != 0 && any_before ? Life::no_sign : Life::unknown;
}

Sight look_for(const ProcessName& process) {
  const ProcessName here = this_place();
  // No /proc: there is no boot id and no namespace, and nothing can be seen.
  if (here.boot_id.empty() || here.pid_namespace == 0 || process.host != here.host ||
      process.boot_id != here.boot_id || process.pid_namespace != here.pid_namespace) {
    return Sight::hidden;
  }
  return start_time_of(std::to_string(process.pid)) == process.start_time ? Sight::runs
                                                                          : Sight::gone;
}

ProcessName this_process() {
  ProcessName name = this_place();
  name.pid = static_cast<std::uint32_t>(::getpid());
  name.start_time = start_time_of("self").value_or(0);
  return name;
}

}  // namespace uctrace::log

// Whether the process that writes a log, or holds a folder's lease, still runs. If it can be seen
// from here, /proc knows. Elsewhere (another host, another PID namespace) the last sign of life
// counts: a log has a heartbeat in its page, and writing changes its modification time.
#pragma once

#include <cstdint>
#include <string>

namespace uctrace::log {

// After this long without a sign of life it counts as silent; there is a sign every kHeartbeatNs.
inline constexpr std::uint64_t kSilenceNs = 120'000'000'000;

// Identifies a process anywhere.
struct ProcessName {
  std::string host;
  std::string boot_id;
  std::uint64_t pid_namespace = 0;
  std::uint64_t time_namespace = 0;  // the clock of `start_time`; 0 = the kernel has none
  std::uint32_t pid = 0;
  std::uint64_t start_time = 0;  // 0 = not known
};

// The unique name of a program image in a job: `image` counts the images that exec replaced.
std::string process_key(const ProcessName& process, std::uint32_t image);

// What /proc says about a process. `hidden`: it runs under another kernel or in other namespaces,
// or /proc hides other users' processes.
enum class Sight : std::uint8_t { runs, gone, hidden };

// The last signs of life of a process; CLOCK_REALTIME in ns, 0 = not known.
struct Signs {
  std::uint64_t heartbeat = 0;  // by the clock of its host
  std::uint64_t modified = 0;   // its file's modification, by the clock of the file server
  std::uint64_t now = 0;        // by the clock of the file server
};

enum class Life : std::uint8_t {
  closed,   // it closed its log
  running,  // it exists, or gave a sign within kSilenceNs
  dead,     // it is gone, and did not close its log
  no_sign,  // it cannot be seen, and gave no sign for longer than kSilenceNs
  unknown,  // it cannot be seen, and signs do not help: it gives none, or its clock is wrong
};

// The rule: one fresh sign is enough, because clocks of hosts may differ.
Life life_of(bool closed, Sight sight, const Signs& signs);

// Whether `record` must leave the log where it is.
constexpr bool may_run(Life life) { return life == Life::running || life == Life::unknown; }

// Reads /proc.
Sight look_for(const ProcessName& process);
ProcessName this_process();

}  // namespace uctrace::log

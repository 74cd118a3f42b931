// Whether the process that writes a log, or holds a folder's lease, still runs. Where it can be
// seen from here /proc knows. Elsewhere (another host, another PID namespace) it counts when it was
// last heard of: a log has a heartbeat in its page, and a write moves its time of modification.
#pragma once

#include <cstdint>
#include <string>

namespace uctrace::log {

// After so long without a sign of life, of which there is one every kHeartbeatNs, it is missed.
inline constexpr std::uint64_t kSilenceNs = 120'000'000'000;

// A process, wherever it is.
struct ProcessName {
  std::string host;
  std::string boot_id;
  std::uint64_t pid_namespace = 0;
  std::uint64_t time_namespace = 0;  // whose clock `start_time` is in; 0 = the kernel has none
  std::uint32_t pid = 0;
  std::uint64_t start_time = 0;  // 0 = it could not tell
};

// Its unique name in a job, and that of the program in it: `image` counts those that exec replaced.
std::string process_key(const ProcessName& process, std::uint32_t image);

// What /proc says of a process. `hidden`: it does not run under this kernel, or not in these
// namespaces, or /proc hides the processes of others.
enum class Sight : std::uint8_t { runs, gone, hidden };

// When a process was last heard of; CLOCK_REALTIME in ns, 0 = not known.
struct Signs {
  std::uint64_t heartbeat = 0;  // by the clock of its host
  std::uint64_t modified = 0;   // its file, by the clock of the file server
  std::uint64_t now = 0;        // by the clock of the file server
};

enum class Life : std::uint8_t {
  closed,   // it ended its log
  running,  // it is there, or was heard of within kSilenceNs
  dead,     // it is gone, and did not end its log
  no_sign,  // it cannot be seen, and was not heard of for longer than kSilenceNs
  unknown,  // it cannot be seen, and no sign says anything: it gives none, or its clock is wrong
};

// The rule. A single fresh sign is enough, because clocks of hosts may differ.
Life life_of(bool closed, Sight sight, const Signs& signs);

// What `record` must not move.
constexpr bool may_run(Life life) { return life == Life::running || life == Life::unknown; }

// Reads /proc.
Sight look_for(const ProcessName& process);
ProcessName this_process();

}  // namespace uctrace::log

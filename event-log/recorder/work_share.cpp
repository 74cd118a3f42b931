#include "event-log/recorder/work_share.hpp"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "event-log/format/helpers.hpp"
#include "event-log/recorder/process_identity.hpp"
#include "event-log/recorder/ticks.hpp"

namespace uctrace::log {
namespace {

// Long compared to the scheduler's time slices.
constexpr std::uint64_t kLookNs = 10'000'000;

std::uint64_t cpu_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

// 0: not known, so none counts as free. The C library's own function is limited to 1,024 cores.
std::uint64_t cores_allowed() {
  unsigned long allowed[128]{};
  if (syscall(SYS_sched_getaffinity, 0, sizeof allowed, allowed) < 0) {
    return 0;
  }
  std::uint64_t cores = 0;
  for (const unsigned long some : allowed) {
    cores += static_cast<std::uint64_t>(__builtin_popcountl(some));
  }
  return cores;
}

}  // namespace

constinit bool test_shares_always = false;

// If the packing thread has less than nine tenths of a core, it shares the core, maybe with other
// processes, or waits for the file system: another thread would take time from the program, or be
// useless.
std::uint32_t next_assistants(std::uint32_t now, std::uint32_t most, Demand demand,
                              const CoreUse& use) {
  if (demand == Demand::small) {
    return 0;
  }
  if (10 * use.turns_cpu < 9 * use.turns || 10 * use.waited > use.wall) {
    return now == 0 ? 0 : now - 1;
  }
  const bool one_is_free = use.cpu + use.wall <= use.cores * use.wall;
  return demand == Demand::full && one_is_free ? std::min(now + 1, most) : now;
}

std::uint32_t most_assistants() {
  const char* helpers = getenv("UCTRACE_HELPERS");
  const long count = helpers != nullptr ? strtol(helpers, nullptr, 10) : 1;
  return static_cast<std::uint32_t>(std::clamp<long>(count, 1, kMostHelpers)) - 1;
}

// The ring counts as full only if it was full at the last look, too: a burst starts no thread.
std::uint32_t WorkShare::look(const Clocks& now, std::uint64_t waiting, std::uint64_t bound) {
  const bool is_full = 2 * waiting > bound;
  const Demand demand = is_full && was_full_  ? Demand::full
                        : 4 * waiting > bound ? Demand::middling
                                              : Demand::small;
  assistants_ = next_assistants(assistants_, most_, demand,
                                {.cores = now.cores,
                                 .wall = now.wall - last_look_,
                                 .cpu = now.cpu - cpu_then_,
                                 .turns = turns_,
                                 .turns_cpu = turns_cpu_,
                                 .waited = now.waited - waited_then_});
  was_full_ = is_full;
  last_look_ = now.wall;
  cpu_then_ = now.cpu;
  waited_then_ = now.waited;
  turns_ = turns_cpu_ = 0;
  return assistants_;
}

std::uint32_t WorkShare::begin_turn(std::uint64_t waiting, std::uint64_t bound) {
  if (most_ == 0 || test_shares_always) {
    return most_;
  }
  turn_begun_ = monotonic_raw_ns();
  if (turn_begun_ - last_look_ >= kLookNs) {
    look({.cores = cores_allowed(),
          .wall = turn_begun_,
          .cpu = cpu_ns(CLOCK_PROCESS_CPUTIME_ID),
          .waited = time_without_core_ns()},
         waiting, bound);
    turn_begun_ = monotonic_raw_ns();  // looking does not count as packing
  }
  turn_cpu_begun_ = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
  return assistants_;
}

void WorkShare::end_turn() {
  if (most_ != 0) {
    add_turn(monotonic_raw_ns() - turn_begun_, cpu_ns(CLOCK_THREAD_CPUTIME_ID) - turn_cpu_begun_);
  }
}

}  // namespace uctrace::log

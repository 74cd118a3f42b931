#include <fmt/format.h>
#include <sys/timex.h>

#include <fstream>

#include "cli/check/checks.hpp"

namespace uctrace::cli::check {
namespace {

#if defined(__x86_64__)
constexpr const char* kCounter = "tsc";
#else
constexpr const char* kCounter = "arch_sys_counter";
#endif

void check_source(Findings& findings) {
  std::string source;
  std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> source;
  if (source == kCounter) {
    findings.ok("clock", fmt::format("the kernel keeps time with the cycle counter ({}): 11 ns a "
                                     "reading",
                                     source));
    return;
  }
  findings.warning(
      kClockSlow,
      {.found = fmt::format("the kernel keeps time with {}",
                            source.empty() ? "a clock that it does not tell" : source),
       .why = "the cycle counter is then not trusted, and each reading costs 28 ns or, without a "
              "vDSO clock, a system call; times stay right",
       .fix = fmt::format("as root: echo {} > /sys/devices/system/clocksource/clocksource0/"
                          "current_clocksource (if available_clocksource there lists it)",
                          kCounter)});
}

void check_wall_clock(Findings& findings) {
  timex state{};
  const int status = adjtimex(&state);
  if (status >= 0 && status != TIME_ERROR && (state.status & STA_UNSYNC) == 0) {
    findings.ok("clock", fmt::format("the wall clock is synchronised, within {:.1f} ms",
                                     static_cast<double>(state.maxerror) / 1000.0));
    return;
  }
  findings.warning(
      kClockNotSynchronised,
      {.found = status < 0 ? "whether the wall clock is synchronised cannot be asked"
                           : "the wall clock is not synchronised",
       .why =
           "jobs on several hosts are set against each other by it where they do not measure their "
           "clocks: jobs without MPI, and `record` behind the launcher",
       .fix = "as root on each host: timedatectl set-ntp true, or systemctl start chrony"});
}

}  // namespace

void check_clock(Findings& findings) {
  check_source(findings);
  check_wall_clock(findings);
}

}  // namespace uctrace::cli::check

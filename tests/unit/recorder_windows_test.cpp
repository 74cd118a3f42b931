// Recording on demand, in processes of their own, read back by the reading side.
#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "event-log/reader/reader.hpp"
#include "event-log/recorder/recorder.hpp"
#include "tests/unit/recording_folder.hpp"

namespace uctrace::log::test {
namespace {

void count_and_record() {
  if (Lane* mine = lane()) ++mine->counters().uct_completed;
  record_one();
}

// By lane: the number of events counted while recording, according to the switches, and the number
// recorded.
struct Windows {
  std::uint64_t counted = 0, recorded = 0, dropped = 0, outside = 0, total = 0, switches = 0;
};

std::vector<Windows> windows_of(const LogFile& log) {
  std::vector<Windows> windows(log.lanes().size());
  std::vector<bool> on(windows.size());
  const auto change = [&](std::size_t lane, bool now_on, std::uint64_t count) {
    if (on[lane] != now_on) windows[lane].counted += now_on ? -count : count;
    on[lane] = now_on;
  };
  log.for_each_record(Stream::definitions,
                      [&](std::uint16_t lane, const RecordingSwitchView& view) {
                        change(lane, view.on(), view.r.counters.uct_completed);
                        ++windows[lane].switches;
                      });
  for (std::size_t lane = 0; lane < windows.size(); ++lane) {
    const LaneCounters& counters = log.lanes()[lane].counters;
    change(lane, false, counters.uct_completed);
    windows[lane].recorded = counters.recorded_events;
    windows[lane].dropped = counters.dropped[static_cast<std::size_t>(DropKind::uct)];
    windows[lane].total = counters.uct_completed;
    windows[lane].outside = counters.outside_window[static_cast<std::size_t>(DropKind::uct)];
  }
  return windows;
}

std::vector<FaultCode> faults_of(const LogFile& log) {
  std::vector<FaultCode> codes;
  log.for_each_record(Stream::definitions,
                      [&](std::uint16_t, const FaultView& view) { codes.push_back(view.code()); });
  return codes;
}

}  // namespace

TEST_CASE("while recording is switched, each thread records what it counts between two switches") {
  constexpr int kThreads = 4, kSwitches = 200;
  const Folder folder;
  setenv("UCTRACE_START_ON", "pcontrol", 1);
  setenv("UCTRACE_STOP_ON", "pcontrol,signal:USR2", 1);
  folder.run([] {
    std::atomic<bool> over{false};
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        while (!over) {
          for (int k = 0; k < 16; ++k) count_and_record();
          usleep(20);
        }
      });
    }
    for (int i = 0; i < kSwitches; ++i) {
      switch_recording_by_level(1 - i % 2);
      count_and_record();
      usleep(200);
    }
    over = true;
    return true;
  });
  unsetenv("UCTRACE_START_ON");
  unsetenv("UCTRACE_STOP_ON");
  const LogFile log = folder.log();
  std::uint64_t total = 0, recorded = 0;
  for (const Windows& lane : windows_of(log)) {
    CHECK(lane.recorded + lane.dropped == lane.counted);
    CHECK(lane.counted + lane.outside == lane.total);
    CHECK(lane.switches > 1);
    total += lane.total;
    recorded += lane.recorded;
  }
  CHECK(recorded > 0);
  CHECK(recorded < total);
  CHECK(totals_of(log).read == recorded);
}

TEST_CASE("signals switch recording behind the next event, unless the program has them") {
  const Folder folder;
  setenv("UCTRACE_START_ON", "signal:USR1", 1);
  setenv("UCTRACE_STOP_ON", "signal:SIGUSR1,signal:USR2,signal:URG,nonsense", 1);
  signal(SIGUSR2, SIG_IGN);
  folder.run([] {
    count_and_record();  // off
    raise(SIGUSR2);      // the program's
    for (int window = 0; window < 2; ++window) {
      raise(SIGUSR1);
      for (int i = 0; i < 4; ++i) count_and_record();  // the first one still is not recorded
      raise(SIGUSR1);
      for (int i = 0; i < 2; ++i) count_and_record();  // the first one still is
    }
    const pid_t child = fork();
    if (child == 0) {
      raise(SIGUSR1);  // nothing is recorded here: what the signal does to any program
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    signal(SIGURG, SIG_IGN);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1;
  });
  signal(SIGUSR2, SIG_DFL);
  unsetenv("UCTRACE_START_ON");
  unsetenv("UCTRACE_STOP_ON");
  const LogFile log = folder.log();
  const std::vector<Windows> windows = windows_of(log);
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].switches == 5);
  CHECK(windows[0].recorded == 8);
  CHECK(windows[0].counted == 8);
  CHECK(windows[0].total == 13);
  CHECK(faults_of(log) == std::vector{FaultCode::unknown_condition, FaultCode::signal_taken,
                                      FaultCode::signal_taken});
}

TEST_CASE("conditions beyond those that can be kept are said") {
  const Folder folder;
  std::string levels;
  for (std::size_t level = 1; level <= kMostConditions + 2; ++level) {
    levels += (level == 1 ? "pcontrol:" : ",pcontrol:") + std::to_string(level);
  }
  setenv("UCTRACE_START_ON", levels.c_str(), 1);
  folder.run([] {
    switch_recording_by_level(static_cast<std::int32_t>(kMostConditions) + 1);
    count_and_record();  // still off
    switch_recording_by_level(static_cast<std::int32_t>(kMostConditions));
    count_and_record();
    return true;
  });
  unsetenv("UCTRACE_START_ON");
  const LogFile log = folder.log();
  CHECK(windows_of(log).front().recorded == 1);
  CHECK(faults_of(log) == std::vector{FaultCode::unknown_condition, FaultCode::unknown_condition});
}

TEST_CASE("what recording can wait for") {
  CHECK(parse_recording_condition("pcontrol").any_level);
  CHECK(parse_recording_condition("pcontrol:-3").value == -3);
  CHECK(parse_recording_condition("pcontrol:2147483647").value == INT32_MAX);
  CHECK(parse_recording_condition("signal:USR1").value == SIGUSR1);
  CHECK(parse_recording_condition("signal:SIGWINCH").value == SIGWINCH);
  for (const char* text :
       {"", "pcontrol:", "pcontrol:-", "pcontrol:x", "pcontrol:1x", "pcontrol:2147483648",
        "pcontrols", "signal:", "signal:KILL", "signal:1", "USR1"}) {
    CAPTURE(text);
    CHECK(parse_recording_condition(text).cause == SwitchCause::start);
  }
}

}  // namespace uctrace::log::test

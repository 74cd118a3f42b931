// Whether a process runs, judged by /proc and by its signs of life.
#include "event-log/reader/liveness.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

namespace uctrace::log::test {
namespace {

constexpr std::uint64_t kNow = 1'700'000'000'000'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;

// Of a hidden process, with signs this many seconds before now; negative: in the future.
Life hidden(std::int64_t heartbeat_s, std::int64_t modified_s) {
  const auto at = [](std::int64_t before) {
    return kNow - static_cast<std::uint64_t>(before) * kSecond;
  };
  return life_of(false, Sight::hidden,
                 {.heartbeat = at(heartbeat_s), .modified = at(modified_s), .now = kNow});
}

}  // namespace

TEST_CASE("a closed log is closed, and a process that can be seen is what /proc says") {
  const Signs old{.heartbeat = 1, .modified = 1, .now = kNow};
  const Signs fresh{.heartbeat = kNow, .modified = kNow, .now = kNow};
  CHECK(life_of(true, Sight::runs, fresh) == Life::closed);
  CHECK(life_of(true, Sight::hidden, {}) == Life::closed);
  CHECK(life_of(false, Sight::runs, old) == Life::running);
  CHECK(life_of(false, Sight::gone, fresh) == Life::dead);
}

TEST_CASE("a hidden process runs as long as one sign of it is fresh, whichever clock is wrong") {
  CHECK(hidden(0, 0) == Life::running);
  CHECK(hidden(119, 10'000) == Life::running);
  CHECK(hidden(10'000, 119) == Life::running);
  CHECK(hidden(-119, 10'000) == Life::running);
  CHECK(hidden(-100'000, 3) == Life::running);  // its clock goes ahead, its file was just written
  CHECK(hidden(121, 121) == Life::no_sign);
  CHECK(hidden(121, -100'000) == Life::no_sign);
  CHECK(hidden(-100'000, 121) == Life::no_sign);
  CHECK(hidden(-121, -121) == Life::unknown);
}

TEST_CASE("a process that never gave a sign is not missed") {
  CHECK(life_of(false, Sight::hidden, {.modified = kNow - 1000 * kSecond, .now = kNow}) ==
        Life::unknown);
  CHECK(life_of(false, Sight::hidden, {.now = kNow}) == Life::unknown);
  CHECK(may_run(Life::unknown));
  CHECK(may_run(Life::running));
  CHECK_FALSE(may_run(Life::closed));
  CHECK_FALSE(may_run(Life::dead));
  CHECK_FALSE(may_run(Life::no_sign));
}

TEST_CASE("a process is seen in its own PID namespace, under its own kernel") {
  ProcessName self = this_process();
  CHECK(look_for(self) == Sight::runs);
  CHECK(self.pid == static_cast<std::uint32_t>(::getpid()));
  const auto changed = [&](const auto& change) {
    ProcessName other = self;
    change(other);
    return look_for(other);
  };
  CHECK(changed([](ProcessName& p) { p.start_time += 1; }) == Sight::gone);
  CHECK(changed([](ProcessName& p) { p.boot_id[0] ^= 1; }) == Sight::hidden);
  CHECK(changed([](ProcessName& p) { p.pid_namespace += 1; }) == Sight::hidden);
  CHECK(changed([](ProcessName& p) { p.host += "x"; }) == Sight::hidden);
  CHECK(look_for({}) == Sight::hidden);
}

TEST_CASE("a zombie does not run") {
  int told[2];
  REQUIRE(pipe(told) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::uint64_t own_start = this_process().start_time;
    _exit(write(told[1], &own_start, sizeof own_start) < 0 ? 1 : pause());
  }
  ProcessName name = this_process();
  name.pid = static_cast<std::uint32_t>(child);
  REQUIRE(read(told[0], &name.start_time, sizeof name.start_time) == sizeof name.start_time);
  CHECK(look_for(name) == Sight::runs);
  ProcessName earlier = name, unknown = name;
  --earlier.start_time;
  unknown.start_time = 0;
  CHECK(look_for(earlier) == Sight::gone);
  CHECK(look_for(unknown) == Sight::hidden);  // it could not tell
  kill(child, SIGKILL);
  siginfo_t ended{};
  CHECK(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  CHECK(look_for(name) == Sight::gone);
  CHECK(waitpid(child, nullptr, 0) == child);
  close(told[0]);
  close(told[1]);
}

}  // namespace uctrace::log::test

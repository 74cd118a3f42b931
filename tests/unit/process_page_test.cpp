// What a process writes about itself in its page, and the name of its log.
#include <doctest/doctest.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "tests/unit/recording_folder.hpp"

namespace uctrace::log::test {
namespace {

// In a host-name namespace of its own, where the kernel lets one be made; else with false.
bool call_this_host(const char* name) {
  return unshare(CLONE_NEWUTS) == 0 && sethostname(name, std::strlen(name)) == 0;
}

}  // namespace

TEST_CASE("a process gives signs of life, whether it records or not") {
  if (std::getenv("UCTRACE_NO_HELPER") != nullptr) return;  // nobody gives one: the case below
  constexpr std::chrono::seconds kPatience{20};
  const Folder folder;
  int go[2];
  REQUIRE(pipe(go) == 0);
  const pid_t process = folder.start_process([&] {
    char end = 0;
    return read(go[0], &end, 1) == 1;  // idle until the test has seen it
  });
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const auto heartbeat = [&] {
    const auto logs = folder.log_paths();
    try {
      return logs.empty() ? 0 : LogFile::open(logs.front()).page().heartbeat_realtime_ns;
    } catch (const std::exception&) {
      return std::uint64_t{0};  // its page is being written
    }
  };
  std::uint64_t first = 0, second = 0;
  while (first == 0 && std::chrono::steady_clock::now() < deadline) first = heartbeat();
  REQUIRE(first != 0);
  // The first one comes at once: what is waited for is one that is given again and again.
  for (second = first;
       second < first + kHeartbeatNs / 2 && std::chrono::steady_clock::now() < deadline;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    second = heartbeat();
  }
  CHECK(second - first >= kHeartbeatNs / 2);
  CHECK(second - first < 4 * kHeartbeatNs);
  REQUIRE(write(go[1], "x", 1) == 1);
  Folder::wait_for(process);
  close(go[0]);
  close(go[1]);
}

TEST_CASE("without a helper nobody gives a sign of life") {
  if (std::getenv("UCTRACE_NO_HELPER") == nullptr) return;
  const Folder folder;
  Folder::wait_for(folder.start_process([] { return true; }));
  REQUIRE(folder.log_paths().size() == 1);
  CHECK(LogFile::open(folder.log_paths().front()).page().heartbeat_realtime_ns == 0);
}

TEST_CASE("a host's name is safe in the name of a log, and as it is in its page") {
  const std::string longest(64, 'h');
  for (const std::string& host : {std::string("../../elsewhere/x"), std::string("a b\n\xc3\xa4"),
                                  std::string("-rf"), longest}) {
    CAPTURE(host);
    const Folder folder;
    folder.run_unstarted([&] {
      if (!call_this_host(host.c_str())) return true;
      if (!start()) return false;
      record_one();
      return true;
    });
    const auto logs = folder.log_paths();
    if (logs.empty()) {
      MESSAGE("skipped: no host-name namespace can be made here");
      return;
    }
    REQUIRE(logs.size() == 1);
    const std::string name = logs.front().filename().string();
    CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "._-") == std::string::npos);
    CHECK(name.front() != '-');
    CHECK(name.front() != '.');
    CHECK(LogFile::open(logs.front()).host() == host.substr(0, sizeof ProcessPage::host - 1));
  }
}

TEST_CASE("what was planted under the name of a log is not written to") {
  const Folder folder;
  // The second start of a process cannot know its log's name before: the name of the first is taken
  // by a link, which a process that replaced itself would meet.
  const fs::path victim = folder / "victim";
  folder.run_unstarted([&] {
    if (!start()) return false;
    const auto logs = folder.log_paths();
    if (logs.size() != 1) return false;
    fs::remove(logs.front());
    fs::create_symlink(victim, logs.front());
    execl("/proc/self/exe", "recorder_test", "-tc=in another image", nullptr);
    return false;
  });
  CHECK_FALSE(fs::exists(victim));
  CHECK(folder.log_paths().size() == 2);  // the link, and the log under the next name
}

TEST_CASE("in another image") {
  if (getenv("UCTRACE_DIR") == nullptr) return;
  CHECK(start());
  record_one();
}

}  // namespace uctrace::log::test

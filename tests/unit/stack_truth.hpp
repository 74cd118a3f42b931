// The expected stack: the result of glibc's backtrace(), called in the same function immediately
// before. Each case runs in a process of its own, which records; then its log is read back.
#pragma once

#include <doctest/doctest.h>
#include <execinfo.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "call-stacks/stacks.hpp"
#include "event-log/reader/reader.hpp"
#include "event-log/recorder/recorder.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace uctrace::stacks::test {

namespace fs = std::filesystem;

#define NOINLINE __attribute__((noinline, noclone))
// Keeps a call from becoming a jump.
#define STAY __asm__ volatile("" ::: "memory")

using Addresses = std::vector<std::uint64_t>;

struct Seen {
  std::uint32_t stack;
  std::uint64_t tick;
  Addresses frames;           // by backtrace()
  std::uint64_t interrupted;  // where the signal came in whose handler looks; 0 = none did
};

inline std::vector<Seen> seen;
inline std::mutex seen_mutex;

// Both unwind from here: all but the first address, which is in this function, must agree.
NOINLINE inline void probe(std::uint64_t interrupted = 0) {
  constexpr int kMost = 400;
  static thread_local void* found[kMost];
  const int count = backtrace(found, kMost);
  log::Lane* lane = log::lane();
  const std::uint32_t stack = lane != nullptr ? take(*lane) : 0;
  Seen now{stack, log::now(), {}, interrupted};
  for (int i = 1; i < count; ++i) {
    now.frames.push_back(reinterpret_cast<std::uint64_t>(found[i]));
  }
  const std::lock_guard lock(seen_mutex);
  seen.push_back(std::move(now));
}

inline auto& counters() { return log::lane()->counters(); }

inline std::string folder;

inline log::LogFile own_log() {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".ulog") return log::LogFile::open(entry.path());
  }
  std::abort();
}

// On a busy machine a record may find no chunk ready: counted, and an event without a stack.
inline bool lost_any() { return own_log().dropped_records() != 0; }

// The error in the stacks of this process; empty if there is none.
inline std::string disagreement() {
  std::map<std::uint32_t, Addresses> stacks;
  own_log().for_each_record(log::Stream::definitions,
                            [&](std::uint16_t, const log::StackView& view) {
                              stacks[view.id()] = {view.addresses.begin(), view.addresses.end()};
                            });
  const bool lost = lost_any();
  for (const Seen& now : seen) {
    if (now.stack == 0 && lost) continue;
    const auto found = stacks.find(now.stack);
    if (found == stacks.end()) return "a stack is not in the log";
    Addresses mine(found->second.begin() + 1, found->second.end());
    Addresses theirs = now.frames;
    theirs.resize(std::min(theirs.size(), log::kMaxStackFrames - 1));
    // All addresses of the log lie behind the instruction that they stand for.
    for (std::uint64_t& address : theirs) address += address == now.interrupted;
    if (mine != theirs) {
      std::string text = "stack " + std::to_string(now.stack) + ": ";
      for (const std::uint64_t address : mine) text += " " + std::to_string(address);
      text += "\n  backtrace:";
      for (const std::uint64_t address : theirs) text += " " + std::to_string(address);
      return text;
    }
  }
  return seen.empty() ? "nothing was taken" : "";
}

// Runs `body` in a process that keeps stacks, by this unwinder.
template <typename Body>
void run(const char* unwinder, Body body) {
  const uctrace::test::TemporaryFolder own;
  folder = own.path();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    setenv("UCTRACE_DIR", folder.c_str(), 1);
    setenv("UCTRACE_UNWINDER", unwinder, 1);
    std::string wrong = log::start() ? "" : "no log";
    if (wrong.empty()) wrong = body();
    if (wrong.empty()) wrong = disagreement();
    if (!wrong.empty()) std::fprintf(stderr, "%s\n", wrong.c_str());
    _exit(wrong.empty() ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

template <typename Body>
void run_by_each(Body body) {
  for (const char* unwinder : {"libunwind", "libgcc"}) {
    INFO(std::string(unwinder));
    run(unwinder, body);
  }
}

}  // namespace uctrace::stacks::test

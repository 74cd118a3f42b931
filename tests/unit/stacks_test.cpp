// Call stacks against glibc's backtrace() (stack_truth.hpp), in programs that are hard to unwind.
#include <alloca.h>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/stack_truth.hpp"

namespace uctrace::stacks::test {
namespace {

// --- programs ------------------------------------------------------------------------------------

NOINLINE void recurse(int depth) {
  if (depth > 0) {
    recurse(depth - 1);
  } else {
    probe();
  }
  STAY;
}

NOINLINE void odd_way(int depth);
NOINLINE void even_way(int depth) {
  volatile char room[40];
  room[0] = 0;
  if (depth > 0) odd_way(depth - 1);
  if (depth == 0) probe();
  room[39] = room[0];
  STAY;
}
NOINLINE void odd_way(int depth) {
  if (depth > 0 && depth % 3 == 0) recurse(depth / 2);
  if (depth > 0) even_way(depth - 1);
  if (depth == 0) probe();
  STAY;
}

NOINLINE void with_alloca(std::size_t bytes, int more) {
  auto* room = static_cast<volatile char*>(alloca(bytes));
  room[bytes - 1] = 1;
  if (more > 0) {
    with_alloca(bytes / 2 + 16, more - 1);
  } else {
    probe();
  }
  room[0] = 2;
}

NOINLINE void with_array(std::size_t bytes) {
  volatile char room[bytes];
  room[bytes - 1] = 1;
  probe();
  room[0] = room[bytes - 1];
}

// Its frame is aligned: where it ends is stored in a word of its own.
NOINLINE void with_aligned(std::size_t bytes) {
  alignas(64) volatile char aligned[64];
  auto* room = static_cast<volatile char*>(alloca(bytes));
  room[0] = 1;
  aligned[0] = room[0];
  with_array(bytes % 100 + 1);
  probe();
  aligned[0] = 2;
  room[0] = aligned[0];
}

// A jump to `recurse`, where the compiler makes it one.
NOINLINE void tail(int depth) { return recurse(depth); }

template <int N>
NOINLINE void site() {
  probe();
  STAY;
}
template <int... Numbers>
void call_sites(std::integer_sequence<int, Numbers...>) {
  (site<Numbers>(), ...);
}

#define TEN(what) what what what what what what what what what what
NOINLINE void thousand_in_one() { TEN(TEN(TEN(probe();))) }

NOINLINE void throw_below(int depth) {
  if (depth == 0) throw depth;
  probe();
  throw_below(depth - 1);
  STAY;
}

void on_signal(int, siginfo_t*, void* context) {
  const mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  probe(static_cast<std::uint64_t>(machine.gregs[REG_RIP]));
#else
  probe(machine.pc);
#endif
}

// For loops that must not be unrolled: unrolled, they would be several call sites.
volatile int few = 3, many = 100;

// --- cases ---------------------------------------------------------------------------------------

TEST_CASE("recursion of changing depth") {
  run_by_each([]() -> std::string {
    std::minstd_rand random(1);
    for (int i = 0; i < 2000; ++i) {
      const auto depth = static_cast<int>(random() % 40);
      switch (random() % 4) {
        case 0:
          recurse(depth);
          break;
        case 1:
          odd_way(depth);
          break;
        case 2:
          tail(depth);
          break;
        default:
          even_way(depth);
      }
    }
    recurse(300);  // deeper than what is kept
    recurse(300);
    return counters().stacks_truncated > 0 ? "" : "nothing was cut";
  });
}

TEST_CASE("many call sites, each unwound once") {
  run_by_each([]() -> std::string {
    std::uint64_t first = 0;
    for (int round = 0; round < few; ++round) {
      call_sites(std::make_integer_sequence<int, 1000>());
      thousand_in_one();
      if (round == 0) first = counters().stacks_unwound;
    }
    const std::uint64_t again = counters().stacks_unwound - first;
    if (lost_any()) return "";
    if (first < 2000) return "stacks were taken for others";
    return again == 0 ? "" : std::to_string(again) + " unwound again";
  });
}

TEST_CASE("a repeated stack is not unwound, a changed one is") {
  run_by_each([]() -> std::string {
    for (int i = 0; i < many; ++i) recurse(5);
    if (lost_any()) return "";
    if (counters().stacks_captured != 100) return "not all were taken";
    if (counters().stacks_unwound != 1) return "a repeated one was unwound";
    for (int i = 0; i < many; ++i) recurse(6);
    return counters().stacks_unwound == 2 ? "" : "a changed one was not unwound, or too often";
  });
}

TEST_CASE("frames of changing size: alloca, variable arrays, aligned ones") {
  run_by_each([]() -> std::string {
    std::minstd_rand random(2);
    for (int i = 0; i < 4000; ++i) {
      const std::size_t bytes = 1 + random() % 64 * 8;
      switch (random() % 3) {
        case 0:
          with_alloca(bytes, static_cast<int>(random() % 4));
          break;
        case 1:
          with_array(bytes);
          break;
        default:
          with_aligned(bytes);
      }
    }
    const std::uint64_t before = counters().stacks_unwound;
    for (int i = 0; i < 50; ++i) with_aligned(96);
    return counters().stacks_unwound - before <= 2 || lost_any()
               ? ""
               : "frames on a frame pointer are not kept";
  });
}

TEST_CASE("exceptions thrown through callers") {
  run_by_each([]() -> std::string {
    for (int i = 0; i < 200; ++i) {
      try {
        throw_below(i % 12);
      } catch (int) {
        recurse(i % 5);
      }
    }
    return "";
  });
}

TEST_CASE("threads, one after the other and side by side") {
  run_by_each([]() -> std::string {
    for (int round = 0; round < 4; ++round) {
      std::vector<std::thread> threads;
      for (int t = 0; t < 8; ++t) {
        threads.emplace_back([t] {
          for (int i = 0; i < 200; ++i) odd_way((i + t) % 9);
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
    return "";
  });
}

TEST_CASE("inside a handler of a signal") {
  run_by_each([]() -> std::string {
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR1, &action, nullptr);
    for (int i = 0; i < 20; ++i) raise(SIGUSR1);
    for (const Seen& now : seen) {
      if (std::ranges::count(now.frames, now.interrupted) != 1) return "the signal is in no stack";
    }
    return "";
  });
}

int call_back(int depth) {
  recurse(depth);
  return depth;
}

// The path that the log has for an address at a tick.
std::string module_of(const log::LogFile& file, std::uint64_t address, std::uint64_t tick) {
  std::string found;
  std::uint64_t found_tick = 0;
  file.for_each_record(log::Stream::definitions, [&](std::uint16_t, const log::ModuleView& view) {
    const bool holds = view.r.begin <= address && address < view.r.end && view.r.tick <= tick;
    if (!holds || view.r.tick < found_tick) return;
    found = view.path;
    found_tick = view.r.tick;
  });
  return found;
}

TEST_CASE("code that is loaded, unloaded, and loaded elsewhere in its place") {
  run_by_each([]() -> std::string {
    std::vector<std::pair<std::size_t, std::string>> in_plugin;  // into seen
    for (int round = 0; round < 6; ++round) {
      const std::string path = round % 2 == 0 ? STACKS_PLUGIN_A : STACKS_PLUGIN_B;
      void* plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (plugin == nullptr) return dlerror();
      auto* call = reinterpret_cast<int (*)(int (*)(int), int)>(dlsym(plugin, "call_from_plugin"));
      for (int i = 0; i < 3; ++i) {
        call(call_back, i);
        in_plugin.emplace_back(seen.size() - 1, fs::path(path).filename());
      }
      dlclose(plugin);
    }
    const log::LogFile file = own_log();
    if (file.dropped_records() != 0) return "";
    for (const auto& [index, name] : in_plugin) {
      // Frames: recurse once and once a level, call_back, the plug-in.
      const Seen& now = seen[index];
      bool found = false;
      for (const std::uint64_t address : now.frames) {
        const fs::path module = module_of(file, address - 1, now.tick);
        if (module.filename().string().find("stacks_plugin") == std::string::npos) continue;
        if (module.filename() != name) return name + " was taken for " + module.string();
        found = true;
      }
      if (!found) return name + " is in no stack";
    }
    return "";
  });
}

TEST_CASE("off: nothing is taken") {
  const std::uint8_t before = log::detail::wanted_extras;
  log::detail::wanted_extras = 0;
  CHECK_FALSE(wanted());
  log::Lane none{};
  CHECK(of_call(none) == 0);
  CHECK(of_uct_operation(none) == 0);
  log::detail::wanted_extras = before;
}

}  // namespace
}  // namespace uctrace::stacks::test

// Runs the recorded program as if `record` were not there: same terminal, same signals.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace uctrace::cli {

struct ProgramEnd {
  int exit_status = 0;  // as a shell counts: 128 + signal if killed by one
  int signal = 0;       // 0 = the program ended by itself
  int exec_errno = 0;   // not 0 = it could not be started
};

// The file that execvp() would run; 0 or its errno. Lets a typing error stop before any effect.
int find_program(const std::string& name);

// The same file, with every link followed; empty if there is none.
std::filesystem::path resolved_program(const std::string& name);

// What the program writes to both its streams; empty if it cannot be run or takes longer. Ends it
// then.
std::string output_of(const std::vector<std::string>& program, std::chrono::milliseconds limit);

// Waits for the end of the program. Meanwhile SIGINT and SIGQUIT are the program's business, and
// SIGTERM, SIGHUP and `passed_on` are passed on to it, and `every_5_s` is called about every 5 s.
// Call from a process of one thread.
ProgramEnd run_program(const std::vector<std::string>& program, const std::set<int>& passed_on,
                       const std::function<void()>& every_5_s);

// Replaces this process; returns errno if that fails.
int become_program(const std::vector<std::string>& program);

}  // namespace uctrace::cli

// Finds programs and runs them.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace uctrace::cli {

// The file that execvp() would run; 0 or its errno. So a typing error is caught before any effect.
int find_program(const std::string& name);

// The same file with all links resolved; empty if there is none.
std::filesystem::path resolved_program(const std::string& name);

// The output of the program on both streams; empty if it cannot be run or takes too long, in which
// case it is killed.
std::string output_of(const std::vector<std::string>& program, std::chrono::milliseconds limit);

// Replaces this process; returns errno if that fails.
int become_program(const std::vector<std::string>& program);

}  // namespace uctrace::cli

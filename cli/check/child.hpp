// Runs another program and waits for its output, for a bounded time.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace uctrace::cli::check {

struct ChildResult {
  int status = 0;  // as a shell counts; 127 if it could not be started
  bool timed_out = false;
  std::string out, err;

  bool good() const { return status == 0 && !timed_out; }
};

struct ChildOptions {
  std::map<std::string, std::string> environment = {};  // added to our own
  std::vector<std::string> unset = {};
  int timeout_s = 20;
};

// The child and all its children are killed when the time is up.
ChildResult run_child(const std::vector<std::string>& command, const ChildOptions& options = {});

std::vector<std::string> lines_of(const std::string& text);

// The value of an environment variable, empty if it is not set.
std::string environment_value(const char* name);

}  // namespace uctrace::cli::check

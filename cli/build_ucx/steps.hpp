// The programs a build consists of: run one after the other, with their output in one log and a
// line of progress each. If the user interrupts, they are ended with all their children.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace uctrace::cli::build_ucx {

// SIGINT, SIGTERM or SIGHUP came: unfinished work is undone on the way out.
struct Interrupted {
  int signal = 0;
};

// Catches these signals while it lives; there is one at a time.
class InterruptScope {
 public:
  InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  ~InterruptScope();
};
void throw_if_interrupted();

// A progress line such as "compiling: 213 files (1:12)". On a terminal it is rewritten as it grows.
class Progress {
 public:
  explicit Progress(std::string title);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  // without done(): the step failed, and the line says so
  void show(const std::string& detail);
  void done(const std::string& detail = "");

 private:
  std::string line(const std::string& detail) const;

  std::string title_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), shown_{};
  bool on_terminal_, is_done_ = false;
};

struct StepCommand {
  std::vector<std::string> words;
  std::filesystem::path folder;
  std::map<std::string, std::string> environment = {};  // added to our own
};

struct StepResult {
  int status = 0;      // as a shell counts; 127 if it could not be started
  std::string output;  // of both its streams
};

class Log {
 public:
  // Begins an empty log and locks it against a second build. Throws Error.
  explicit Log(std::filesystem::path path);
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log();

  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& text);
  StepResult run(const StepCommand& command,
                 const std::function<void(const std::string& line)>& on_line = {});

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

// The last lines of a text that are not empty, for an error.
std::string tail_of(const std::string& text, std::size_t lines);

}  // namespace uctrace::cli::build_ucx

#include "cli/check/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>

namespace uctrace::cli::check {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOutput = 16u << 20;

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) ends[0] = ends[1] = -1;
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(int end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
};

[[noreturn]] void become(const std::vector<std::string>& command, const ChildOptions& options,
                         int out, int err) {
  setpgid(0, 0);
  for (const std::string& name : options.unset) unsetenv(name.c_str());
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  _exit(127);
}

// False at the end of the pipe.
bool read_some(int fd, std::string& text) {
  std::array<char, 4096> block{};
  const ssize_t got = read(fd, block.data(), block.size());
  if (got <= 0) return got < 0 && errno == EINTR;
  if (text.size() < kMostOutput) text.append(block.data(), static_cast<std::size_t>(got));
  return true;
}

// Until both pipes end or the time is up.
void read_all(Pipe& out, Pipe& err, ChildResult& result, Clock::time_point deadline) {
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      result.timed_out = true;
      return;
    }
    // poll() ignores a negative descriptor.
    std::array<pollfd, 2> ready = {{{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}}};
    if (poll(ready.data(), ready.size(), static_cast<int>(left)) < 0 && errno != EINTR) return;
    if (ready[0].revents != 0 && !read_some(out.ends[0], result.out)) out.close_end(0);
    if (ready[1].revents != 0 && !read_some(err.ends[0], result.err)) err.close_end(0);
  }
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& command, const ChildOptions& options) {
  ChildResult result;
  Pipe out, err;
  const pid_t pid = fork();
  if (pid == 0) become(command, options, out.ends[1], err.ends[1]);
  out.close_end(1);
  err.close_end(1);
  if (pid < 0) {
    result.status = 127;
    return result;
  }
  read_all(out, err, result, Clock::now() + std::chrono::seconds(options.timeout_s));
  if (result.timed_out) {
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace uctrace::cli::check

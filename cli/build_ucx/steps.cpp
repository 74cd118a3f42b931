#include "cli/build_ucx/steps.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <utility>

#include "cli/check/child.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/folder/launcher_line.hpp"

namespace uctrace::cli::build_ucx {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
constexpr auto kTimeToEnd = std::chrono::seconds(5);
constexpr auto kBetweenLines = std::chrono::milliseconds(200);

volatile std::sig_atomic_t caught = 0;
std::array<struct sigaction, kSignals.size()> before;

void catch_signal(int signal) { caught = signal; }

[[noreturn]] void become(const StepCommand& command, int output) {
  setpgid(0, 0);
  for (const int signal : kSignals) std::signal(signal, SIG_DFL);
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  if (chdir(command.folder.c_str()) == 0) execvp(words.front(), words.data());
  dprintf(output, "%s: %s\n", words.front(), std::strerror(errno));
  _exit(127);
}

// A child and all its descendants, which share its process group.
class Group {
 public:
  explicit Group(pid_t leader) : leader_(leader) { setpgid(leader, leader); }
  void end() {
    kill(-leader_, SIGTERM);
    const auto deadline = Clock::now() + kTimeToEnd;
    int status = 0;
    while (waitpid(leader_, &status, WNOHANG) == 0) {
      if (Clock::now() > deadline) kill(-leader_, SIGKILL);
      poll(nullptr, 0, 20);
    }
    kill(-leader_, SIGKILL);
  }
  int wait() const {
    int status = 0;
    while (waitpid(leader_, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t leader_;
};

}  // namespace

InterruptScope::InterruptScope() {
  caught = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    if (before[i].sa_handler == SIG_IGN) continue;  // nohup
    struct sigaction action {};
    action.sa_handler = catch_signal;
    sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptScope::~InterruptScope() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before[i], nullptr);
}

void throw_if_interrupted() {
  if (caught != 0) throw Interrupted{caught};
}

Progress::Progress(std::string title)
    : title_(std::move(title)), on_terminal_(isatty(STDERR_FILENO) == 1) {
  std::cerr << (on_terminal_ ? line("...") : title_ + " ...") << std::flush;
}

Progress::~Progress() {
  if (!is_done_) std::cerr << (on_terminal_ ? line("failed") : " failed") << std::endl;
}

std::string Progress::line(const std::string& detail) const {
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_).count();
  return fmt::format("\r\033[K{}: {} ({}:{:02})", title_, detail, s / 60, s % 60);
}

void Progress::show(const std::string& detail) {
  if (!on_terminal_ || Clock::now() - shown_ < kBetweenLines) return;
  shown_ = Clock::now();
  std::cerr << line(detail) << std::flush;
}

void Progress::done(const std::string& detail) {
  is_done_ = true;
  const std::string told = detail.empty() ? "done" : detail;
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_).count();
  if (on_terminal_) {
    std::cerr << line(told) << std::endl;
  } else {
    std::cerr << fmt::format(" {} ({}:{:02})", told, s / 60, s % 60) << std::endl;
  }
}

Log::Log(std::filesystem::path path) : path_(std::move(path)) {
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw Error({.what = "cannot write " + path_.string(),
                 .why = std::strerror(errno),
                 .to_do = "choose another place with --prefix DIR"});
  }
  if (flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(file_);
    throw Error({.what = "cannot build",
                 .why = fmt::format("another `uctrace build-ucx` builds for the same prefix, its "
                                    "log is {}",
                                    path_.string()),
                 .to_do = "wait for its end, or choose another --prefix"});
  }
  if (ftruncate(file_, 0) != 0) write("");
}

Log::~Log() { close(file_); }

void Log::write(const std::string& text) {
  // A log that cannot be written is no reason to give up a build.
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t wrote = ::write(file_, text.data() + at, text.size() - at);
    if (wrote <= 0) return;
    at += static_cast<std::size_t>(wrote);
  }
}

StepResult Log::run(const StepCommand& command,
                    const std::function<void(const std::string& line)>& on_line) {
  throw_if_interrupted();
  write(fmt::format("\n== {} (in {})\n", shell_line(command.words), command.folder.string()));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {.status = 127, .output = std::strerror(errno)};
  const pid_t pid = fork();
  if (pid == 0) become(command, ends[1]);
  close(ends[1]);
  StepResult result;
  if (pid < 0) {
    close(ends[0]);
    return {.status = 127, .output = std::strerror(errno)};
  }
  Group group(pid);
  std::size_t told = 0;
  std::array<char, 65536> block{};
  while (caught == 0) {
    // Wakes periodically: a signal may come just before it waits.
    pollfd waited{.fd = ends[0], .events = POLLIN, .revents = 0};
    if (poll(&waited, 1, 500) <= 0) continue;
    const ssize_t got = read(ends[0], block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    result.output.append(block.data(), static_cast<std::size_t>(got));
    write(std::string(block.data(), static_cast<std::size_t>(got)));
    for (auto end = result.output.find('\n', told); end != std::string::npos;
         end = result.output.find('\n', told)) {
      if (on_line) on_line(result.output.substr(told, end - told));
      told = end + 1;
    }
  }
  close(ends[0]);
  if (caught != 0) group.end();
  throw_if_interrupted();
  result.status = group.wait();
  return result;
}

std::string tail_of(const std::string& text, std::size_t lines) {
  std::vector<std::string> kept;
  for (const std::string& line : check::lines_of(text)) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) kept.push_back(line);
  }
  if (kept.size() > lines) kept.erase(kept.begin(), kept.end() - static_cast<long>(lines));
  return fmt::format("{}", fmt::join(kept, "\n"));
}

}  // namespace uctrace::cli::build_ucx

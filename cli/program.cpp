#include "cli/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <list>
#include <sstream>
#include <system_error>

namespace uctrace::cli {
namespace {

volatile std::sig_atomic_t child = 0;

void pass_on(int signal) {
  const int saved_errno = errno;
  kill(static_cast<pid_t>(child), signal);
  errno = saved_errno;
}

// Leaves a signal that is ignored (nohup) as it is.
class SignalAction {
 public:
  SignalAction(int signal, void (*handler)(int)) : signal_(signal) {
    sigaction(signal, nullptr, &before_);
    if (before_.sa_handler == SIG_IGN) return;
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
  SignalAction(const SignalAction&) = delete;
  SignalAction& operator=(const SignalAction&) = delete;
  ~SignalAction() { sigaction(signal_, &before_, nullptr); }

 private:
  int signal_;
  struct sigaction before_ {};
};

// Signals wait until it is clear what they mean here.
class SignalsBlocked {
 public:
  explicit SignalsBlocked(const std::set<int>& more) {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
    for (const int signal : more) sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { restore(); }
  void restore() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

int program_errno(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return errno;
  if (S_ISDIR(file.st_mode)) return EACCES;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

// 0 once the program runs: the pipe closes by its exec.
int exec_errno_from(int pipe) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(pipe, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  close(pipe);
  return got == sizeof error ? error : 0;
}

ProgramEnd wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) fail("waitpid");
  }
  if (WIFSIGNALED(status)) {
    return {.exit_status = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
  }
  return {.exit_status = WEXITSTATUS(status)};
}

// Returns when the process has ended, or where that cannot be waited for in this way.
void tick_until_end(pid_t pid, const std::function<void()>& every_5_s) {
  constexpr int kTickMs = 5000;
  const int process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) return;
  pollfd waited{.fd = process, .events = POLLIN, .revents = 0};
  for (;;) {
    const int ended = poll(&waited, 1, kTickMs);
    if (ended > 0 || (ended < 0 && errno != EINTR)) break;
    every_5_s();
  }
  close(process);
}

int locate(const std::string& name, std::string& path) {
  path = name;
  if (name.find('/') != std::string::npos) return program_errno(name);
  const char* list = std::getenv("PATH");
  std::istringstream folders(list != nullptr ? list : "/bin:/usr/bin");
  int error = ENOENT;
  for (std::string folder; std::getline(folders, folder, ':');) {
    path = (folder.empty() ? "." : folder) + "/" + name;
    const int here = program_errno(path);
    if (here == 0) return 0;
    if (here == EACCES) error = EACCES;
  }
  return error;
}

// False: the other end was not closed in time, or wrote more than any version text is long.
bool read_until(int pipe, std::chrono::steady_clock::time_point deadline, std::string& output) {
  constexpr std::size_t kLongest = 64 * 1024;
  char buffer[4096];
  while (output.size() < kLongest) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd waited{.fd = pipe, .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || poll(&waited, 1, static_cast<int>(left.count())) <= 0) return false;
    const ssize_t got = read(pipe, buffer, sizeof buffer);
    if (got <= 0) return got == 0;
    output.append(buffer, static_cast<std::size_t>(got));
  }
  return false;
}

}  // namespace

int find_program(const std::string& name) {
  std::string path;
  return locate(name, path);
}

std::filesystem::path resolved_program(const std::string& name) {
  std::string path;
  if (locate(name, path) != 0) return {};
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::canonical(path, error);
  return error ? std::filesystem::path() : resolved;
}

std::string output_of(const std::vector<std::string>& program, std::chrono::milliseconds limit) {
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) return "";
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(pipe[1], STDOUT_FILENO);
    dup2(pipe[1], STDERR_FILENO);
    become_program(program);
    _exit(127);
  }
  close(pipe[1]);
  if (pid < 0) {
    close(pipe[0]);
    return "";
  }
  setpgid(pid, pid);  // whichever of the two comes first
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::string output;
  const bool ended = read_until(pipe[0], deadline, output);
  close(pipe[0]);
  if (!ended) kill(-pid, SIGKILL);
  wait_for(pid);
  return ended ? output : "";
}

int become_program(const std::vector<std::string>& program) {
  std::vector<char*> arguments;
  for (const std::string& word : program) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  return errno;
}

ProgramEnd run_program(const std::vector<std::string>& program, const std::set<int>& passed_on,
                       const std::function<void()>& every_5_s) {
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) fail("pipe");
  SignalsBlocked blocked(passed_on);
  const pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) {
    blocked.restore();
    const int error = become_program(program);
    _exit(write(pipe[1], &error, sizeof error) > 0 ? 127 : 126);
  }
  child = pid;
  const SignalAction interrupt(SIGINT, SIG_IGN), quit(SIGQUIT, SIG_IGN);
  const SignalAction terminate(SIGTERM, pass_on), hang_up(SIGHUP, pass_on);
  std::list<SignalAction> others;
  for (const int signal : passed_on) others.emplace_back(signal, pass_on);
  blocked.restore();
  close(pipe[1]);
  const int exec_errno = exec_errno_from(pipe[0]);
  tick_until_end(pid, every_5_s);
  ProgramEnd end = wait_for(pid);
  end.exec_errno = exec_errno;
  return end;
}

}  // namespace uctrace::cli

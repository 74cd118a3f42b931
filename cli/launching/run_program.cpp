#include "cli/launching/run_program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>

#include "cli/launching/group_witness.hpp"
#include "cli/launching/program.hpp"

namespace uctrace::cli {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
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

bool is_stop(int signal) { return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

// The next signal, or nothing until that time. SIGPIPE from this process's own writes does not
// count.
std::optional<siginfo_t> next_signal(Clock::time_point until) {
  sigset_t all;
  sigfillset(&all);
  const auto left = std::max(Clock::duration::zero(), until - Clock::now());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec wait{.tv_sec = seconds.count(),
                      .tv_nsec = std::chrono::nanoseconds(left - seconds).count()};
  siginfo_t signal{};
  if (sigtimedwait(&all, &signal, &wait) <= 0) return std::nullopt;
  if (signal.si_code <= 0 && signal.si_pid == getpid()) return std::nullopt;
  return signal;
}

// Signals before the program's end were for the program: if the group got a signal that ended the
// program, it must not end this process as well.
void forget_signals() {
  sigset_t all;
  sigfillset(&all);
  const timespec now{};
  while (sigtimedwait(&all, nullptr, &now) > 0) {
  }
}

// Stops this process, as its shell expects of a job that loses its terminal. Does nothing if the
// job was already told to continue.
void stop_by(int signal) {
  sigset_t pending, only;
  sigpending(&pending);
  if (sigismember(&pending, SIGCONT) != 0) return;
  struct sigaction usual {
  }, before{};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, &before);
  sigemptyset(&only);
  sigaddset(&only, signal);
  raise(signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);  // stops here
  sigprocmask(SIG_BLOCK, &only, nullptr);
  sigaction(signal, &before, nullptr);
}

// A parent that ignores SIGCHLD never gets the exit status of its children.
class ChildrenAreHeardOf {
 public:
  ChildrenAreHeardOf() {
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &usual, &before_);
  }
  ChildrenAreHeardOf(const ChildrenAreHeardOf&) = delete;
  ChildrenAreHeardOf& operator=(const ChildrenAreHeardOf&) = delete;
  ~ChildrenAreHeardOf() { restore(); }
  void restore() const { sigaction(SIGCHLD, &before_, nullptr); }

 private:
  struct sigaction before_ {};
};

class Program {
 public:
  Program(pid_t pid, GroupWitness& witness) : pid_(pid), witness_(witness) {}

  ProgramEnd wait(const std::function<void()>& every_five_seconds) {
    constexpr std::chrono::seconds kPeriod{5};
    Clock::time_point next = Clock::now() + kPeriod;
    for (;;) {
      if (const auto end = look()) return *end;
      stop_with_it();
      if (const auto signal = next_signal(next)) take(*signal);
      if (Clock::now() < next) continue;
      next = Clock::now() + kPeriod;
      if (every_five_seconds) every_five_seconds();
    }
  }

 private:
  // The change of its state since the last check.
  std::optional<ProgramEnd> look() {
    int status = 0;
    const pid_t changed = waitpid(pid_, &status, WNOHANG | WUNTRACED | WCONTINUED);
    if (changed < 0 && errno != EINTR) fail("waitpid");
    if (changed <= 0) return std::nullopt;
    if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
      stopped_by_ = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
      return std::nullopt;
    }
    if (WIFSIGNALED(status)) {
      return ProgramEnd{.exit_status = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
    }
    return ProgramEnd{.exit_status = WEXITSTATUS(status)};
  }

  // Not if somebody stops only the program: nobody would continue this process. A program that
  // ignored a stop signal may be stopped by somebody later.
  void stop_with_it() {
    constexpr std::chrono::seconds kReactionTime{3};
    if (stopped_by_ == 0 || !told_to_stop_) return;
    if (Clock::now() - *told_to_stop_ < kReactionTime) stop_by(stopped_by_);
    told_to_stop_.reset();
  }

  void take(const siginfo_t& signal) {
    const int number = signal.si_signo;
    if (number == SIGCHLD && signal.si_code > 0) return;  // about this process's children
    if (is_stop(number)) told_to_stop_ = Clock::now();
    if (number == SIGCONT) told_to_stop_.reset();
    if (witness_.saw(signal)) return;
    if (signal.si_code == SI_QUEUE) {
      sigqueue(pid_, number, signal.si_value);
    } else {
      kill(pid_, number);
    }
  }

  pid_t pid_;
  GroupWitness& witness_;
  int stopped_by_ = 0;                             // a signal, while it is stopped
  std::optional<Clock::time_point> told_to_stop_;  // since when it should be stopped
};

}  // namespace

ProgramEnd run_program(const std::vector<std::string>& program, const HeldSignals& held,
                       GroupWitness& witness, const std::function<void()>& every_five_seconds) {
  const ChildrenAreHeardOf heard;
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) fail("pipe");
  const pid_t pid = fork();
  if (pid < 0) fail("fork");
  if (pid == 0) {
    heard.restore();
    held.restore();
    const int error = become_program(program);
    _exit(write(pipe[1], &error, sizeof error) > 0 ? 127 : 126);
  }
  close(pipe[1]);
  const int exec_errno = exec_errno_from(pipe[0]);
  ProgramEnd end = Program(pid, witness).wait(every_five_seconds);
  forget_signals();
  end.exec_errno = exec_errno;
  return end;
}

}  // namespace uctrace::cli

#include "cli/launching/group_witness.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "cli/data-folder/scratch_folder.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr timespec kOneByOne{.tv_sec = 0, .tv_nsec = 20'000'000};
constexpr int kAnswerTimeMs = 2000;

template <typename Call>
ssize_t uninterrupted(Call call) {
  ssize_t result = 0;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

// All signals stay blocked until they are queried.
[[noreturn]] void bear_witness(int channel, const fs::path& folder) {
  int signal = 0;
  while (uninterrupted([&] { return recv(channel, &signal, sizeof signal, 0); }) == sizeof signal) {
    sigset_t asked;
    sigemptyset(&asked);
    sigaddset(&asked, signal);
    const bool came = uninterrupted([&] { return sigtimedwait(&asked, nullptr, &kOneByOne); }) > 0;
    uninterrupted([&] { return send(channel, &came, sizeof came, MSG_NOSIGNAL); });
  }
  remove_scratch_folder(folder);
  _exit(0);
}

bool is_of_terminal(const siginfo_t& signal) {
  switch (signal.si_signo) {
    case SIGINT:
    case SIGQUIT:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGHUP:
    case SIGCONT:
    case SIGWINCH:
      return signal.si_code == SI_KERNEL;
    default:
      return false;
  }
}

}  // namespace

GroupWitness::GroupWitness(const fs::path& folder) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[0]);
    bear_witness(ends[1], folder);
  }
  close(ends[1]);
  channel_ = ends[0];
  if (pid_ < 0) dismiss();
}

GroupWitness::~GroupWitness() { dismiss(); }

bool GroupWitness::saw(const siginfo_t& signal) {
  bool came = false;
  pollfd answer{.fd = channel_, .events = POLLIN, .revents = 0};
  const auto ask = [&] {
    return channel_ >= 0 &&
           uninterrupted([&] {
             return send(channel_, &signal.si_signo, sizeof signal.si_signo, MSG_NOSIGNAL);
           }) > 0 &&
           uninterrupted([&] { return poll(&answer, 1, kAnswerTimeMs); }) > 0 &&
           uninterrupted([&] { return recv(channel_, &came, sizeof came, 0); }) == sizeof came;
  };
  if (ask()) return came;
  dismiss();
  return is_of_terminal(signal);
}

// Kill it first: it would take the end of the channel for the death of this process.
void GroupWitness::dismiss() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    uninterrupted([&] { return waitpid(pid_, nullptr, 0); });
  }
  if (channel_ >= 0) close(channel_);
  pid_ = -1;
  channel_ = -1;
}

}  // namespace uctrace::cli

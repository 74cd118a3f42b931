#include "cli/screen.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <iostream>

#include "event-log/reader/error.hpp"

namespace uctrace::cli {
namespace {

constexpr std::string_view kOwnScreen = "\033[?1049h\033[?25l",
                           kOtherScreen = "\033[?25h\033[?1049l";
constexpr std::string_view kHomeAndErase = "\033[H\033[2J";
constexpr int kTaken[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH};

sigset_t taken_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : kTaken) sigaddset(&set, number);
  return set;
}

// A terminal that another job uses must not be changed.
bool is_own_keyboard() { return isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp(); }

}  // namespace

Screen::Screen() : takes_keys_(is_own_keyboard()) {
  const sigset_t set = taken_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) {
    throw Error({.what = "cannot wait for signals",
                 .why = std::strerror(errno),
                 .to_do = "close other programs"});
  }
  enter();
}

Screen::~Screen() {
  leave();
  close(signals_);
  const sigset_t set = taken_signals();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

// Keys come one by one without echo. Keys that make signals still do.
void Screen::enter() {
  termios settings{};
  if (takes_keys_ && tcgetattr(STDIN_FILENO, &settings) == 0) {
    before_ = settings;
    settings.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    settings.c_cc[VMIN] = 1;
    settings.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &settings);
  }
  std::cout << kOwnScreen << std::flush;
}

void Screen::leave() const {
  std::cout << kOtherScreen << std::flush;
  if (before_) tcsetattr(STDIN_FILENO, TCSANOW, &*before_);
}

// In one piece, so that nothing flickers.
void Screen::draw(std::string_view text) const { std::cout << kHomeAndErase << text << std::flush; }

Screen::Happened Screen::wait_until(Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return {};
    pollfd polled[] = {{.fd = signals_, .events = POLLIN, .revents = 0},
                       {.fd = takes_keys_ ? STDIN_FILENO : -1, .events = POLLIN, .revents = 0}};
    const int most = static_cast<int>(std::min<std::int64_t>(left, INT32_MAX));
    if (poll(polled, 2, most) <= 0) continue;
    const Happened happened = polled[0].revents != 0 ? read_signal() : read_key();
    if (happened.event != Event::time) return happened;
  }
}

Screen::Happened Screen::read_signal() {
  signalfd_siginfo info{};
  if (read(signals_, &info, sizeof info) != sizeof info) return {};
  if (info.ssi_signo == SIGWINCH) return {.event = Event::redraw};
  if (info.ssi_signo != SIGTSTP) return {.event = Event::stop};
  leave();
  raise(SIGSTOP);  // until somebody continues it
  enter();
  return {.event = Event::redraw};
}

Screen::Happened Screen::read_key() {
  char key = 0;
  const ssize_t got = read(STDIN_FILENO, &key, 1);
  if (got == 1) return {.event = Event::key, .key = key};
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  takes_keys_ = false;  // there is no more input
  return {};
}

}  // namespace uctrace::cli

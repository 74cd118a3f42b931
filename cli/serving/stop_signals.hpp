// Makes SIGINT and SIGTERM pollable, so a server can end properly.
#pragma once

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "event-log/reader/error.hpp"

namespace uctrace::serving {

// From now on these signals do not end the process but make the descriptor readable.
class StopSignals {
 public:
  StopSignals() {
    const sigset_t stops = signals();
    sigprocmask(SIG_BLOCK, &stops, nullptr);
    descriptor_ = signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK);
    if (descriptor_ < 0) {
      throw Error({.what = "cannot wait for signals",
                   .why = std::strerror(errno),
                   .to_do = "close other programs"});
    }
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals() { close(descriptor_); }

  int descriptor() const { return descriptor_; }

  // While it lives they end the process as usual: for long work without cleanup.
  class EndAtOnce {
   public:
    EndAtOnce() {
      const sigset_t stops = signals();
      sigprocmask(SIG_UNBLOCK, &stops, nullptr);
    }
    EndAtOnce(const EndAtOnce&) = delete;
    EndAtOnce& operator=(const EndAtOnce&) = delete;
    ~EndAtOnce() {
      const sigset_t stops = signals();
      sigprocmask(SIG_BLOCK, &stops, nullptr);
    }
  };

 private:
  static sigset_t signals() {
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGTERM);
    return stops;
  }

  int descriptor_ = -1;
};

}  // namespace uctrace::serving

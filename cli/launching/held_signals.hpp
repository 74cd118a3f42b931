// Holds signals while `record` makes things that it must clean up, and while it waits for its
// program: no signal ends it in between.
#pragma once

#include <csignal>

namespace uctrace::cli {

// Blocks all signals while it lives; pending ones then take effect. A write to a closed pipe does
// not end this process afterwards.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() {
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    const timespec now{};
    sigtimedwait(&broken_pipe, nullptr, &now);
    restore();
  }

  // From here on a signal ends this process, except SIGPIPE from its own writes.
  void let_end() const {
    sigset_t mask = before_;
    sigaddset(&mask, SIGPIPE);
    sigprocmask(SIG_SETMASK, &mask, nullptr);
  }

  // For a child: the mask that `record` was started with.
  void restore() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace uctrace::cli

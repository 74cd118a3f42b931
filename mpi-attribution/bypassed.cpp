// Notices an MPI that works and of which no call was ever seen here: a plug-in that was opened with
// RTLD_DEEPBIND is bound to it directly, as is who asks for its functions by a handle.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "event-log/recorder/last_look.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/original.hpp"
#include "interpose/scope.hpp"
#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {
namespace {

constinit pid_t process = 0;  // that loaded this library; the MPI of a fork child is its parent's
constinit std::atomic<bool> is_told{false};
constinit std::atomic<bool> is_fork_child{false};

// The one function, with MPI_Finalized, that may be called at any time, also before MPI_Init and
// after MPI_Finalize.
bool is_at_work(void* function) {
  int initialised = 0;
  return reinterpret_cast<int (*)(int*)>(function)(&initialised) == 0 && initialised != 0;
}

// The path of an MPI that was there and not at work when it was last looked at.
class IdleMpi {
 public:
  void remember(const char* path) {
    int expected = kNone;
    if (!state_.compare_exchange_strong(expected, kWriting)) return;
    strncpy(path_, path, sizeof path_ - 1);
    state_.store(kThere);
  }
  void forget() {
    int expected = kThere;
    state_.compare_exchange_strong(expected, kNone);
  }
  // nullptr: there is none.
  const char* path() const { return state_.load() == kThere ? path_ : nullptr; }

 private:
  enum State { kNone, kWriting, kThere };
  std::atomic<int> state_{kNone};
  char path_[512] = {};
};
constinit IdleMpi idle;

void tell(const char* library, int is_probable = 0) {
  if (is_told.exchange(true) || !log::start() ||
      log::layer_state(log::Layer::mpi) == log::LayerState::unwanted) {
    return;
  }
  log::fault(log::Layer::mpi, log::FaultCode::mpi_bypassed, is_probable, library);
  log::set_layer(log::Layer::mpi, log::LayerState::off);
}

// No system call where no MPI is loaded: the program may have forbidden it (no_helper.hpp). Nor a
// question to the loader in a fork child: its lock stays held there if another thread of the parent
// had it at the fork.
void look(log::LookAt when) {
  if (is_fork_child.load() || was_called() || is_told.load() || getenv("UCTRACE_DIR") == nullptr) {
    return;
  }
  const bool is_over = when == log::LookAt::after_unloading;
  if (is_over && idle.path() == nullptr) return;
  void* initialized = interpose::find_anywhere("PMPI_Initialized");
  if (initialized != nullptr) {
    if (getpid() != process) return;
    const char* path = interpose::module_path(initialized);
    is_at_work(initialized) ? tell(path) : idle.remember(path);
  } else if (is_over) {
    idle.forget();  // it was not at work when it was unloaded here
  } else if (when == log::LookAt::end && idle.path() != nullptr && getpid() == process) {
    // It was unloaded behind our back: UCX replaces dlclose() of what it finds in memory, and where
    // it was opened with RTLD_DEEPBIND itself it goes on to that of the C library. Nobody can ask
    // any more whether MPI was at work.
    tell(idle.path(), 1);
  }
}

__attribute__((constructor)) void watch() {
  process = getpid();
  pthread_atfork(nullptr, nullptr, [] { is_fork_child.store(true); });
  log::set_last_look(look);
}

}  // namespace
}  // namespace uctrace::mpi

// Detects an MPI in use whose calls bypass this library: a plug-in opened with RTLD_DEEPBIND is
// bound to MPI directly, and so is code that looks MPI's functions up in a dlopen() handle.
#include <atomic>

#include "event-log/recorder/last_look.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/original.hpp"
#include "interpose/scope.hpp"
#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {
namespace {

constinit std::atomic<bool> is_told{false};

// Like MPI_Finalized, it may be called at any time, also before MPI_Init and after MPI_Finalize.
bool is_at_work(void* function) {
  int initialised = 0;
  return reinterpret_cast<int (*)(int*)>(function)(&initialised) == 0 && initialised != 0;
}

void look(log::Moment) {
  if (was_called() || is_told.load()) {
    return;
  }
  void* initialized = interpose::find_anywhere("PMPI_Initialized");
  if (initialized == nullptr || !is_at_work(initialized) || is_told.exchange(true) ||
      !log::start() || log::layer_state(log::Layer::mpi) == log::LayerState::unwanted) {
    return;
  }
  log::fault(log::Layer::mpi, log::FaultCode::mpi_bypassed, 0, interpose::module_path(initialized));
  log::set_layer(log::Layer::mpi, log::LayerState::off);
}

__attribute__((constructor)) void watch() { log::add_last_look(look); }

}  // namespace
}  // namespace uctrace::mpi

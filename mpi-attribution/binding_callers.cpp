// Tells calls of PMPI functions that a Fortran binding makes for the program from those of tools
// and libraries. The bindings of Open MPI, and mpi_f08 of MPICH, reach MPI by its PMPI names.
#include <pthread.h>

#include <atomic>
#include <cstddef>

#include "mpi-attribution/call.h"
#include "mpi-attribution/scope.hpp"

namespace uctrace::mpi {
namespace {

// Objects that called a PMPI function outside of any MPI call. Append-only, so readers need no
// lock. Few objects ever do; those beyond the cache are looked up at each call.
constexpr std::size_t kMaxCallers = 32;
constinit CallerObject callers[kMaxCallers]{};
constinit std::atomic<std::size_t> caller_count{0};
constinit pthread_mutex_t appending = PTHREAD_MUTEX_INITIALIZER;

const CallerObject* known_caller(const void* caller) {
  const std::size_t count = caller_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (caller >= callers[i].begin && caller < callers[i].end) return &callers[i];
  }
  return nullptr;
}

bool examine(const void* caller) {
  const CallerObject object = object_of(caller);
  if (object.begin == object.end) return false;
  pthread_mutex_lock(&appending);
  const std::size_t count = caller_count.load(std::memory_order_relaxed);
  if (known_caller(caller) == nullptr && count < kMaxCallers) {
    callers[count] = object;
    caller_count.store(count + 1, std::memory_order_release);
  }
  pthread_mutex_unlock(&appending);
  return object.is_fortran_binding;
}

}  // namespace
}  // namespace uctrace::mpi

extern "C" bool uctrace_mpi_called_by_binding(const void* caller) {
  const uctrace::mpi::CallerObject* known = uctrace::mpi::known_caller(caller);
  return known != nullptr ? known->is_fortran_binding : uctrace::mpi::examine(caller);
}

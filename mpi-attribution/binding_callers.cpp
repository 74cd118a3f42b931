// Tells calls of PMPI functions by a Fortran binding, which are the program's own, from those of
// tools and libraries. The bindings of Open MPI, and mpi_f08 of MPICH, call MPI by its PMPI names.
#include <dlfcn.h>

#include <atomic>
#include <cstddef>

#include "interpose/fork_lock.hpp"
#include "interpose/scope.hpp"
#include "mpi-attribution/call.h"

namespace uctrace::mpi {
namespace {

using interpose::ObjectRange;

// Symbols that only a Fortran binding defines: the first for mpif.h and `use mpi`, the second for
// `use mpi_f08`.
constexpr const char* kBindingSymbols[] = {"mpi_send_", "mpi_init_f08_"};

struct CallerObject {
  ObjectRange range;
  bool is_fortran_binding;
};

// Objects that called a PMPI function outside of any MPI call. Append-only, so readers need no
// lock. Few objects ever do; those beyond the cache are looked up at each call.
constexpr std::size_t kMaxCallers = 32;
constinit CallerObject callers[kMaxCallers]{};
constinit std::atomic<std::size_t> caller_count{0};
constinit interpose::ForkLock appending;

const CallerObject* known_caller(const void* caller) {
  const std::size_t count = caller_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (callers[i].range.holds(caller)) return &callers[i];
  }
  return nullptr;
}

bool defines_binding(const ObjectRange& object, const void* caller) {
  void* handle = interpose::open_object_at(caller);
  for (const char* symbol : kBindingSymbols) {
    // dlsym also searches the object's dependencies: only its own definition counts.
    if (object.holds(dlsym(handle != nullptr ? handle : RTLD_DEFAULT, symbol))) return true;
  }
  return false;
}

bool examine(const void* caller) {
  const ObjectRange range = interpose::object_at(caller);
  if (range.empty()) return false;
  const CallerObject object{range, defines_binding(range, caller)};
  const interpose::Held held(appending);
  const std::size_t count = caller_count.load(std::memory_order_relaxed);
  if (known_caller(caller) == nullptr && count < kMaxCallers) {
    callers[count] = object;
    caller_count.store(count + 1, std::memory_order_release);
  }
  return object.is_fortran_binding;
}

}  // namespace
}  // namespace uctrace::mpi

extern "C" bool uctrace_mpi_called_by_binding(const void* caller) {
  const uctrace::mpi::CallerObject* known = uctrace::mpi::known_caller(caller);
  return known != nullptr ? known->is_fortran_binding : uctrace::mpi::examine(caller);
}

// The parts that all generated wrappers share. Included by the generated file only: it owns the
// thread-local state below.
//
// Only the outermost MPI call of a thread is measured; calls that the library makes inside it pass.
// The guard of a measured call is a cleanup variable in the wrapper's frame, so it also fires when
// an exception passes through (-fexceptions). A longjmp out of an MPI error handler skips it: a
// guard is therefore known by its frame, and one that is not above the current frame is dead.
#pragma once

#include "mpi-attribution/call.h"

typedef UctraceWord Word;

#define WRAPPER_EXPORT __attribute__((visibility("default")))
#define WRAPPER_INLINE static inline __attribute__((always_inline))
#define WRAPPER_CALLER __builtin_return_address(0)

// Frame of the measured call that is in progress on this thread, 0 if there is none.
static __thread uintptr_t measured_frame __attribute__((tls_model("initial-exec")));

WRAPPER_INLINE uintptr_t frame_of_wrapper(void) { return (uintptr_t)__builtin_dwarf_cfa(); }

WRAPPER_INLINE bool is_measured(void) {
  return uctrace_mpi_recording && (measured_frame == 0 || frame_of_wrapper() >= measured_frame);
}

WRAPPER_INLINE void* original_of(unsigned function, UctraceEntry entry, const void* caller) {
  void* original =
      __atomic_load_n(&uctrace_mpi_functions[function].original[entry], __ATOMIC_ACQUIRE);
  return __builtin_expect(original != 0, 1) ? original
                                            : uctrace_mpi_resolve(function, entry, caller);
}

#define DEFINE_ENTER(kind, Type, runtime)      \
  WRAPPER_INLINE void enter_##kind(Type* it) { \
    measured_frame = frame_of_wrapper();       \
    runtime(it);                               \
  }
DEFINE_ENTER(call, UctraceCall, uctrace_mpi_enter)
DEFINE_ENTER(message, UctraceMessage, uctrace_mpi_enter_message)
DEFINE_ENTER(exchange, UctraceExchange, uctrace_mpi_enter_exchange)
DEFINE_ENTER(finalize, UctraceCall, uctrace_mpi_enter_finalize)
DEFINE_ENTER(abort, UctraceCall, uctrace_mpi_enter_abort)
#undef DEFINE_ENTER

// The library may call MPI functions of its own while the runtime asks it about communicators, so
// the guard is dropped last.
#define DEFINE_LEAVE(kind, Type)                     \
  WRAPPER_INLINE void leave_##kind(const Type* it) { \
    uctrace_mpi_leave_##kind(it);                    \
    measured_frame = 0;                              \
  }
DEFINE_LEAVE(call, UctraceCall)
DEFINE_LEAVE(message, UctraceMessage)
DEFINE_LEAVE(exchange, UctraceExchange)
DEFINE_LEAVE(construction, UctraceConstruction)
DEFINE_LEAVE(release, UctraceCall)
DEFINE_LEAVE(window_making, UctraceWindowMaking)
DEFINE_LEAVE(rename, UctraceRename)
DEFINE_LEAVE(init, UctraceCall)
DEFINE_LEAVE(finalize, UctraceCall)
#undef DEFINE_LEAVE
WRAPPER_INLINE void leave_abort(const UctraceCall* call) {
  (void)call;
  measured_frame = 0;
}

#define LEAVE_BY(leave) __attribute__((cleanup(leave)))

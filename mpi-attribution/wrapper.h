// Shared by all generated wrappers. Only the generated file includes it: it owns the thread-local
// state below.
//
// Only the outermost MPI call of a thread is measured; calls that the library makes inside it pass
// through. The guard of a measured call is a cleanup variable in the wrapper's frame, so it also
// fires when an exception passes through (-fexceptions). A longjmp out of an MPI error handler
// skips it. So a guard is identified by its frame, and one that is not above the current frame is
// dead.
#pragma once

#include "mpi-attribution/call.h"

typedef UctraceWord Word;

#define WRAPPER_EXPORT __attribute__((visibility("default")))
#define WRAPPER_INLINE static inline __attribute__((always_inline))
#define WRAPPER_CALLER __builtin_return_address(0)

// Frame of the measured call that is in progress on this thread, 0 if there is none.
static __thread uintptr_t measured_frame __attribute__((tls_model("initial-exec")));

WRAPPER_INLINE uintptr_t frame_of_wrapper(void) { return (uintptr_t)__builtin_dwarf_cfa(); }

WRAPPER_INLINE bool is_outermost(void) {
  return measured_frame == 0 || frame_of_wrapper() >= measured_frame;
}
WRAPPER_INLINE bool is_measured(void) { return uctrace_mpi_recording && is_outermost(); }

// 0 before the first call, and where the library lacks the function.
WRAPPER_INLINE void* known_original(unsigned function, UctraceEntry entry) {
  return __atomic_load_n(&uctrace_mpi_functions[function].original[entry], __ATOMIC_ACQUIRE);
}
WRAPPER_INLINE void* original_of(unsigned function, UctraceEntry entry, const void* caller) {
  void* original = known_original(function, entry);
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
DEFINE_ENTER(probed_receive, UctraceProbedReceive, uctrace_mpi_enter_probed_receive)
DEFINE_ENTER(requests, UctraceRequests, uctrace_mpi_enter_requests)
DEFINE_ENTER(finalize, UctraceCall, uctrace_mpi_enter_finalize)
DEFINE_ENTER(session_finalize, UctraceSession, uctrace_mpi_enter_session_finalize)
DEFINE_ENTER(abort, UctraceCall, uctrace_mpi_enter_abort)
DEFINE_ENTER(type_release, UctraceCall, uctrace_mpi_enter_type_release)
#undef DEFINE_ENTER

// The library may call MPI functions while the runtime asks it about communicators, so the guard is
// dropped last.
#define DEFINE_LEAVE(kind, Type)                     \
  WRAPPER_INLINE void leave_##kind(const Type* it) { \
    uctrace_mpi_leave_##kind(it);                    \
    measured_frame = 0;                              \
  }
DEFINE_LEAVE(call, UctraceCall)
DEFINE_LEAVE(message, UctraceMessage)
DEFINE_LEAVE(exchange, UctraceExchange)
DEFINE_LEAVE(probe, UctraceProbe)
DEFINE_LEAVE(requests, UctraceRequests)
DEFINE_LEAVE(partitioned, UctracePartitioned)
DEFINE_LEAVE(ready, UctraceReady)
DEFINE_LEAVE(ready_list, UctraceReadyList)
DEFINE_LEAVE(test, UctraceTest)
DEFINE_LEAVE(arrived, UctraceTest)
DEFINE_LEAVE(collective, UctraceCollective)
DEFINE_LEAVE(construction, UctraceConstruction)
DEFINE_LEAVE(release, UctraceCall)
DEFINE_LEAVE(window_making, UctraceMade)
DEFINE_LEAVE(window_release, UctraceCall)
DEFINE_LEAVE(file_making, UctraceMade)
DEFINE_LEAVE(file_release, UctraceCall)
DEFINE_LEAVE(rename, UctraceRename)
DEFINE_LEAVE(init, UctraceCall)
DEFINE_LEAVE(finalize, UctraceCall)
DEFINE_LEAVE(session_making, UctraceMade)
DEFINE_LEAVE(session_finalize, UctraceSession)
#undef DEFINE_LEAVE
WRAPPER_INLINE void leave_probed_receive(const UctraceProbedReceive* receive) {
  leave_message(&receive->message);
}
WRAPPER_INLINE void leave_unrecorded(const UctraceCall* call) {
  (void)call;
  measured_frame = 0;
}

// The shorter path of calls that are only counted (docs/internals.md). A separate function needs
// fewer registers than the one that records. The choice is made in assembly, because a compiler
// would first save registers. It is a jump: even in a build without optimisation, both then have
// the caller and frame of the exported function. On other architectures the compiler decides.
#if defined(__x86_64__)
#define WRAPPER_COUNTED static __attribute__((noinline, used))
#define WRAPPER_RECORDED static __attribute__((noinline, used))
#define DEFINE_BRANCH(symbol, function, parameters, arguments) \
  void symbol(void);                                           \
  WRAPPER_EXPORT __attribute__((naked)) void symbol(void) {    \
    __asm__(                                                   \
        "cmpb $0, uctrace_mpi_only_counts(%rip)\n"             \
        "jne counted_" #function                               \
        "\n"                                                   \
        "jmp recorded_" #function);                            \
  }
#else
#define WRAPPER_COUNTED static __attribute__((noinline))
#define WRAPPER_RECORDED WRAPPER_INLINE
#define DEFINE_BRANCH(symbol, function, parameters, arguments)                           \
  Word symbol parameters;                                                                \
  WRAPPER_EXPORT Word symbol parameters {                                                \
    return only_counts() ? counted_##function arguments : recorded_##function arguments; \
  }
#endif

extern __thread uintptr_t uctrace_programs_send
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

WRAPPER_INLINE bool only_counts(void) {
  return __builtin_expect(__atomic_load_n(&uctrace_mpi_only_counts, __ATOMIC_RELAXED), 0);
}
WRAPPER_INLINE void enter_counted(bool sends) {
  measured_frame = frame_of_wrapper();
  uctrace_programs_send = sends;
}
WRAPPER_INLINE void count_call(const unsigned* function) {
  uctrace_mpi_count_call(*function);
  measured_frame = 0;
}
WRAPPER_INLINE void count_send(const UctraceSent* sent) {
  uctrace_mpi_count_send(sent);
  measured_frame = 0;
}

#define LEAVE_BY(leave) __attribute__((cleanup(leave), unused))

// MPI_Pcontrol is variadic: the arguments after the level may be anywhere and of any type. So they
// are left untouched, and a jump to the original lets it return to the caller. It is declared
// without arguments: without optimisation a compiler would store them, but a naked function has no
// frame.
#define ASSEMBLER_TEXT(x) #x
#if defined(__x86_64__)
#define DEFINE_PCONTROL(name, number, entry)                                                       \
  void name(void);                                                                                 \
  WRAPPER_EXPORT __attribute__((naked)) void name(void) {                                          \
    __asm__(                                                                                     \
        "pushq %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset 6, -16\n"                             \
        "movq %rsp, %rbp\n .cfi_def_cfa_register 6\n"                                            \
        "subq $192, %rsp\n"                                                                      \
        "movq %rdi, (%rsp)\n movq %rsi, 8(%rsp)\n movq %rdx, 16(%rsp)\n movq %rcx, 24(%rsp)\n"   \
        "movq %r8, 32(%rsp)\n movq %r9, 40(%rsp)\n movq %rax, 48(%rsp)\n"                        \
        "movups %xmm0, 64(%rsp)\n movups %xmm1, 80(%rsp)\n movups %xmm2, 96(%rsp)\n"             \
        "movups %xmm3, 112(%rsp)\n movups %xmm4, 128(%rsp)\n movups %xmm5, 144(%rsp)\n"          \
        "movups %xmm6, 160(%rsp)\n movups %xmm7, 176(%rsp)\n"                                    \
        "movl $" ASSEMBLER_TEXT(number) ", %esi\n movl $" ASSEMBLER_TEXT(entry) ", %edx\n"       \
        "movq 8(%rbp), %rcx\n"                                                                   \
        "call uctrace_mpi_pcontrol\n"                                                            \
        "movq %rax, %r11\n"                                                                      \
        "movq (%rsp), %rdi\n movq 8(%rsp), %rsi\n movq 16(%rsp), %rdx\n movq 24(%rsp), %rcx\n"   \
        "movq 32(%rsp), %r8\n movq 40(%rsp), %r9\n movq 48(%rsp), %rax\n"                        \
        "movups 64(%rsp), %xmm0\n movups 80(%rsp), %xmm1\n movups 96(%rsp), %xmm2\n"             \
        "movups 112(%rsp), %xmm3\n movups 128(%rsp), %xmm4\n movups 144(%rsp), %xmm5\n"          \
        "movups 160(%rsp), %xmm6\n movups 176(%rsp), %xmm7\n"                                    \
        "leave\n .cfi_def_cfa 7, 8\n"                                                            \
        "jmp *%r11\n"); \
  }
#else
// On other architectures, arguments that are machine words in registers are passed on.
#define DEFINE_PCONTROL(name, number, entry)                                                     \
  typedef Word (*name##_function)(Word, Word, Word, Word, Word, Word, Word, Word);               \
  Word name(Word level, Word b, Word c, Word d, Word e, Word f, Word g, Word h);                 \
  WRAPPER_EXPORT Word name(Word level, Word b, Word c, Word d, Word e, Word f, Word g, Word h) { \
    void* original = uctrace_mpi_pcontrol(level, number, (UctraceEntry)(entry), WRAPPER_CALLER); \
    return ((name##_function)original)(level, b, c, d, e, f, g, h);                              \
  }
#endif

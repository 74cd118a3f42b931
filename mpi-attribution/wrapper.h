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

// The shorter paths of calls that are only counted, or left out (docs/internals.md). A separate
// function needs fewer registers than the one that records. The choice is made in assembly, because
// a compiler would first save registers. It is a jump: even in a build without optimisation, all
// then have the caller and frame of the exported function. On other architectures the compiler
// decides.
#if defined(__x86_64__)
#define WRAPPER_COUNTED static __attribute__((noinline, used))
#define WRAPPER_LEFT_OUT static __attribute__((noinline, used))
#define WRAPPER_RECORDED static __attribute__((noinline, used))
#define DEFINE_BRANCH(symbol, function, parameters, arguments) \
  void symbol(void);                                           \
  WRAPPER_EXPORT __attribute__((naked)) void symbol(void) {    \
    __asm__(                                                   \
        "cmpb $1, uctrace_mpi_way(%rip)\n"                     \
        "je counted_" #function                                \
        "\n"                                                   \
        "jb recorded_" #function                               \
        "\n"                                                   \
        "jmp left_out_" #function);                            \
  }
#else
#define WRAPPER_COUNTED static __attribute__((noinline))
#define WRAPPER_LEFT_OUT WRAPPER_INLINE
#define WRAPPER_RECORDED WRAPPER_INLINE
#define DEFINE_BRANCH(symbol, function, parameters, arguments)         \
  Word symbol parameters;                                              \
  WRAPPER_EXPORT Word symbol parameters {                              \
    const UctraceWay way = way_now();                                  \
    return way == kUctraceCounts      ? counted_##function arguments   \
           : way == kUctraceLeavesOut ? left_out_##function arguments  \
                                      : recorded_##function arguments; \
  }
#endif

extern __thread uintptr_t uctrace_programs_send
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

WRAPPER_INLINE UctraceWay way_now(void) {
  return (UctraceWay)__atomic_load_n(&uctrace_mpi_way, __ATOMIC_RELAXED);
}
WRAPPER_INLINE bool only_counts(void) { return way_now() == kUctraceCounts; }
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

// --- calls that are left out ---------------------------------------------------------------------
//
// One is counted and shown at its entry, when its lane is sure to leave events out. Its start is
// not read: the recorder's helper notes when it first sees such a call.

extern __thread UctraceThreadLane uctrace_thread_lane
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

// 0 also if the thread has yet to ask for one: in a new log, or in a fork child.
WRAPPER_INLINE char* lane_now(void) {
  const uint32_t* generation = __atomic_load_n(&uctrace_armed, __ATOMIC_RELAXED);
  return uctrace_thread_lane.generation == __atomic_load_n(generation, __ATOMIC_ACQUIRE)
             ? uctrace_thread_lane.lane
             : 0;
}

// This thread's lane, if it leaves out a call that begins now, and the log can already name the
// function and its caller; else 0.
WRAPPER_INLINE char* lane_of_left_out(unsigned function, const void* caller) {
  char* const lane = lane_now();
  if (lane == 0) return 0;
  const uint64_t state = __atomic_load_n(&uctrace_recording_state, __ATOMIC_RELAXED);
  if (*(uint64_t*)(lane + kUctraceSeen) != state || (state & kUctraceRecordingOn) != 0) return 0;
  if (!__atomic_load_n(&uctrace_mpi_functions[function].described, __ATOMIC_RELAXED)) return 0;
  const uint64_t page = (uintptr_t)caller >> kUctraceCodePageBits;
  const uint64_t* known = &uctrace_caller_pages[page % kUctraceCallerPages];
  return __atomic_load_n(known, __ATOMIC_RELAXED) == page ? lane : 0;
}

// As log::Counter.
WRAPPER_INLINE void count_one(char* info, unsigned offset) {
  uint64_t* counter = (uint64_t*)(info + offset);
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  __asm__("addq $1, %0" : "+m"(*counter) : : "cc");
#else
  __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
#endif
}

// What is shown of a call, as log::CurrentCall has it.
typedef struct LeftOutCall {
  uint32_t head;
  const void* caller;
  Word request, scope;
  int32_t peer, tag;
} LeftOutCall;

WRAPPER_INLINE int32_t peer_of_left_out(Word word) {
  const int32_t rank = (int32_t)word;
  if (rank == uctrace_mpi_constants.proc_null) return kUctraceNull;
  return rank == uctrace_mpi_constants.any_source ? kUctraceAny : rank;
}
WRAPPER_INLINE int32_t tag_of_left_out(Word word) {
  return (int32_t)word == uctrace_mpi_constants.any_tag ? kUctraceAny : (int32_t)word;
}
WRAPPER_INLINE Word handle_of_left_out(Word word) {
  return word & uctrace_mpi_constants.handle_mask;
}
WRAPPER_INLINE Word request_of_left_out(Word word) {
  const Word handle = handle_of_left_out(word);
  return handle == uctrace_mpi_constants.request_null ? 0 : handle;
}
WRAPPER_INLINE Word request_at_left_out(Word address) {
  if (address == 0) return 0;
  return request_of_left_out(uctrace_mpi_constants.handle_mask == UINT32_MAX ? *(uint32_t*)address
                                                                             : *(Word*)address);
}

#define SHOW(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)
WRAPPER_INLINE bool enter_left_out(char* lane, LeftOutCall call) {
  measured_frame = frame_of_wrapper();
  char* const info = *(char**)(lane + kUctraceInfo);
  *(uint8_t*)(lane + kUctraceSharedTick) = 0;
  count_one(info, kUctraceCalls);
  count_one(info, kUctraceOutside);
  UctraceShownCall* const shown = (UctraceShownCall*)(info + kUctraceShown);
  SHOW(shown->caller, (uintptr_t)call.caller);
  SHOW(shown->request, call.request);
  SHOW(shown->start_tick, 0);
  SHOW(shown->scope, call.scope);
  SHOW(shown->peer, call.peer);
  SHOW(shown->tag, call.tag);
  const uint32_t kTypeAndFunction = 0x03ff00ff;
  __atomic_store_n(&shown->head, call.head & kTypeAndFunction, __ATOMIC_RELEASE);
  return true;
}
#undef SHOW
// The call may have forked.
WRAPPER_INLINE void leave_left_out(const bool* entered) {
  (void)entered;
  char* const lane = lane_now();
  if (lane != 0) {
    UctraceShownCall* shown = (UctraceShownCall*)(*(char**)(lane + kUctraceInfo) + kUctraceShown);
    __atomic_store_n(&shown->head, 0, __ATOMIC_RELEASE);
  }
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

// The interface between the generated wrappers (C) and the runtime (C++): one call of a library
// above UCX. Its functions return what the original returns, and the runtime only looks on.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(hidden)

// An integer or a pointer. The upper half of a word that carries an int is undefined.
typedef uintptr_t UctraceWord;

typedef struct UctraceLibraryFunction {
  const char* name;
  void* originals;  // of its callers (libraries.cpp); NULL until the first call
  uint16_t number;  // log::LibraryCall's: library, then function
  bool described;   // its name is in the log
} UctraceLibraryFunction;

typedef struct UctraceLibrary {
  const char* name;
  UctraceLibraryFunction* functions;
  unsigned function_count;
} UctraceLibrary;

// What UctraceLibraryCall::ucc is (ucc_arguments.hpp).
typedef enum UctraceUccRole {
  kUctraceNothing = 0,
  kUctraceOperation,   // ucc_coll_args_t*
  kUctraceEvent,       // ucc_ev_t*
  kUctraceTeamParams,  // ucc_team_params_t*
  kUctraceEndedTeam,   // ucc_team_h
} UctraceUccRole;

// One call. It lives in the wrapper's frame, and is recorded when that frame is left.
typedef struct UctraceLibraryCall {
  UctraceLibraryFunction* function;
  UctraceWord caller;  // its return address
  UctraceWord frame;   // of the wrapper
  // Handles of its context or team, and of its request; 0 where it has none. And where it stores
  // new ones if it succeeds.
  UctraceWord scope, new_scope, request, new_request;
  UctraceWord bytes;
  UctraceWord ucc;  // an argument of UCC, of the kind `ucc_role`
  uint64_t start_tick;
  int32_t peer;
  int32_t result;  // if it is a status
  UctraceUccRole ucc_role;
  bool never_returns;
  bool is_measured;  // set by uctrace_library_enter()
} UctraceLibraryCall;
enum { kUctraceNoPeer = INT32_MIN };  // log::LibraryCall::kNone

// --- generated -----------------------------------------------------------------------------------

// At most so many functions in all libraries.
enum { kUctraceMostLibraryFunctions = 2048 };
extern UctraceLibrary uctrace_libraries[];  // by their numbers
extern const unsigned uctrace_library_count;

// --- runtime: called by the wrappers, on the thread of the call ----------------------------------

// Begins a call, and returns the function that its caller would have reached without this library.
// The first call of a function finds it (some microseconds). If there is none, ends the process
// with a message.
void* uctrace_library_enter(UctraceLibraryCall* call);

// A task of an operation of UCC is made from the code at `caller`. Returns the original, as above.
void* uctrace_library_task(UctraceLibraryFunction* function, UctraceWord caller);

// Records the call: about 40 ns including the start, most of it two clock readings.
void uctrace_library_leave(const UctraceLibraryCall* call);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

// Shared by all generated wrappers of libraries above UCX. Only the generated file includes it.
//
// The call is a cleanup variable in the wrapper's frame, so it also ends when an exception passes
// through (-fexceptions).
#pragma once

#include <stddef.h>

#include "library-attribution/call.h"

typedef UctraceWord Word;

#define WRAPPER_EXPORT __attribute__((visibility("default")))
#define WRAPPER_CALLER ((Word)__builtin_return_address(0))
#define WRAPPER_FRAME ((Word)__builtin_dwarf_cfa())
#define LEAVE __attribute__((cleanup(uctrace_library_leave)))

// An int that counts elements. The library refuses, or ignores, what is below 0.
static inline __attribute__((always_inline)) Word count_of(Word word) {
  return (int32_t)word > 0 ? (Word)(int32_t)word : 0;
}

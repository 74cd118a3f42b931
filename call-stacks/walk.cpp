#include "call-stacks/walk.hpp"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#if __has_include(<libunwind.h>) && defined(__x86_64__)
#define UCTRACE_HAS_LIBUNWIND 1
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

namespace uctrace::stacks {
namespace {

// --- libgcc --------------------------------------------------------------------------------------

struct Collected {
  Frame* frames;
  std::size_t size, count;
};

_Unwind_Reason_Code collect(_Unwind_Context* context, void* argument) {
  auto& collected = *static_cast<Collected*>(argument);
  int interrupted = 0;
  const std::uintptr_t pc = _Unwind_GetIPInfo(context, &interrupted);
  if (pc == 0 || collected.count == collected.size) return _URC_END_OF_STACK;
  // What libgcc calls the CFA of a frame is the end of its callee's frame.
  collected.frames[collected.count++] = {pc, _Unwind_GetCFA(context), interrupted != 0};
  return _URC_NO_REASON;
}

std::size_t walk_by_libgcc(Frame* frames, std::size_t size) {
  Collected collected{frames, size, 0};
  _Unwind_Backtrace(collect, &collected);
  return collected.count;
}

// --- libunwind -----------------------------------------------------------------------------------

#ifdef UCTRACE_HAS_LIBUNWIND

#define UCTRACE_TEXT_OF(name) #name
#define UCTRACE_TEXT(name) UCTRACE_TEXT_OF(name)

struct LibUnwind {
  decltype(&unw_tdep_getcontext) get_context;
  decltype(&unw_init_local) init_local;
  decltype(&unw_step) step;
  decltype(&unw_get_reg) get_reg;
  decltype(&unw_is_signal_frame) is_signal_frame;
};
constinit LibUnwind libunwind{};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// Stays open: frames are walked for as long as the process lives.
bool open_libunwind() {
  void* library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  return library != nullptr &&
         find(library, UCTRACE_TEXT(unw_tdep_getcontext), libunwind.get_context) &&
         find(library, UCTRACE_TEXT(unw_init_local), libunwind.init_local) &&
         find(library, UCTRACE_TEXT(unw_step), libunwind.step) &&
         find(library, UCTRACE_TEXT(unw_get_reg), libunwind.get_reg) &&
         find(library, UCTRACE_TEXT(unw_is_signal_frame), libunwind.is_signal_frame);
}

std::size_t walk_by_libunwind(Frame* frames, std::size_t size) {
  unw_context_t context;
  unw_cursor_t cursor;
  libunwind.get_context(&context);
  if (libunwind.init_local(&cursor, &context) != 0) return 0;
  std::size_t count = 0;
  do {
    unw_word_t pc = 0, stack_pointer = 0;
    if (libunwind.get_reg(&cursor, UNW_REG_IP, &pc) != 0 || pc == 0 ||
        libunwind.get_reg(&cursor, UNW_REG_SP, &stack_pointer) != 0) {
      break;
    }
    // libunwind marks the interrupted frame, not the trampoline before it.
    frames[count++] = {pc, stack_pointer, libunwind.is_signal_frame(&cursor) > 0};
  } while (count < size && libunwind.step(&cursor) > 0);
  return count;
}

#else

bool open_libunwind() { return false; }
std::size_t walk_by_libunwind(Frame*, std::size_t) { return 0; }

#endif

}  // namespace

namespace {

constinit bool libunwind_is_open = false;

bool wants_libgcc() {
  const char* wanted = getenv("UCTRACE_UNWINDER");
  return wanted != nullptr && strcmp(wanted, "libgcc") == 0;
}

}  // namespace

void open_unwinder() { libunwind_is_open = !wants_libgcc() && open_libunwind(); }

log::Unwinder find_unwinder() {
  return libunwind_is_open && !wants_libgcc() ? log::Unwinder::libunwind : log::Unwinder::libgcc;
}

std::size_t walk(log::Unwinder by, Frame* frames, std::size_t size) {
  return by == log::Unwinder::libunwind ? walk_by_libunwind(frames, size)
                                        : walk_by_libgcc(frames, size);
}

}  // namespace uctrace::stacks

// The frames of this thread, by libunwind where the machine has it, else by libgcc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/kinds.hpp"

namespace uctrace::stacks {

struct Frame {
  std::uintptr_t pc;  // where it goes on: behind a call, or at an instruction that was interrupted
  std::uintptr_t stack_pointer;
  bool interrupted;  // by a signal
};

// Opens libunwind, unless UCTRACE_UNWINDER says libgcc. In a scope of its own: its _Unwind_*
// functions must not stand in front of libgcc's, on which the program's exceptions rest. For a
// constructor: it allocates, as the loader does, and the first stack may be taken in a handler of a
// signal that interrupted malloc().
void open_unwinder();

// Which one walks: libgcc where libunwind is not open or not wanted.
log::Unwinder find_unwinder();

// The frames from the caller on, innermost first, at most `size`; how many.
std::size_t walk(log::Unwinder by, Frame* frames, std::size_t size);

}  // namespace uctrace::stacks

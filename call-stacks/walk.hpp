// The frames of this thread, by libunwind where the machine has it, else by libgcc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/format/kinds.hpp"

namespace uctrace::stacks {

struct Frame {
  std::uintptr_t pc;  // where it continues: after a call, or at the interrupted instruction
  std::uintptr_t stack_pointer;
  bool interrupted;  // by a signal
};

// Opens libunwind, unless UCTRACE_UNWINDER says libgcc. Opened in a private scope: its _Unwind_*
// functions must not shadow libgcc's, which the program's exceptions need. Call it from a
// constructor: it allocates, as the loader does, and the first stack may be taken in a signal
// handler that interrupted malloc().
void open_unwinder();

// The unwinder in use: libgcc if libunwind is not open or not wanted.
log::Unwinder find_unwinder();

// Writes the frames from the caller on, innermost first, at most `size`; returns their number.
std::size_t walk(log::Unwinder by, Frame* frames, std::size_t size);

}  // namespace uctrace::stacks

// The frames of this thread, by libunwind where the machine has it, else by libgcc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "event-log/kinds.hpp"

namespace uctrace::stacks {

struct Frame {
  std::uintptr_t pc;  // where it goes on: behind a call, or at an instruction that was interrupted
  std::uintptr_t stack_pointer;
  bool interrupted;  // by a signal
};

// Looks for the libraries, once. libunwind is opened at run time, in a scope of its own: its
// _Unwind_* functions must not stand in front of libgcc's, on which the program's exceptions rest.
// Allocates, as the loader does.
log::Unwinder find_unwinder();

// The frames from the caller on, innermost first, at most `size`; how many.
std::size_t walk(log::Unwinder by, Frame* frames, std::size_t size);

}  // namespace uctrace::stacks

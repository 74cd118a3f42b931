// The program and libraries whose code stacks lead through, as definitions in the log.
#pragma once

#include <cstdint>

namespace uctrace::stacks {

// Moves on when code is unloaded: what was learnt of an address before may be of other code now.
std::uint32_t code_generation();

// Whether code may be on its way out on another thread just now.
bool is_unloading();

// Writes what was loaded since the last time into the log. A few hundred ns if nothing was. False:
// another thread is at it, or there was no room.
bool define_new_modules();

// Whether the address lies in the code of uctrace itself.
bool is_own_code(std::uintptr_t address);

}  // namespace uctrace::stacks

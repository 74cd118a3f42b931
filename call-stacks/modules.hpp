// Defines in the log the program and libraries that stacks lead through.
#pragma once

#include <cstdint>

namespace uctrace::stacks {

// Changes when code is unloaded: anything learnt about an address before may be about other code.
std::uint32_t code_generation();

// Whether another thread may be unloading code just now.
bool is_unloading();

// Writes modules that were loaded since the last call into the log. A few hundred ns if there are
// none. False: another thread is doing it, or there was no room.
bool define_new_modules();

// Whether the address is in uctrace's own code.
bool is_own_code(std::uintptr_t address);

}  // namespace uctrace::stacks

// UCTRACE_LEAVE_OUT=name[,name...]: hooks that are not installed, by the name of the function or of
// the slot of UCT's table. A diagnostic: whether a hook disturbs a program, and for tests that each
// hook is missed by an identity. Read from the environment once.
#pragma once

#include <cstddef>

namespace uctrace::interpose {

// For slow paths, where hooks are installed. Cost: 1 ns without the variable, else a search.
bool left_out(const char* name, std::size_t length);
inline bool left_out(const char* name) { return left_out(name, __builtin_strlen(name)); }

// The whole value, nullptr: nothing is left out.
const char* leave_out();

}  // namespace uctrace::interpose

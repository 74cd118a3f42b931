// UCTRACE_LEAVE_OUT=name[,name...]: hooks that are not installed, named by the function or by the
// slot of UCT's table. For diagnosis (does a hook disturb the program?) and for tests (an identity
// must fail without each hook). Read from the environment once.
#pragma once

#include <cstddef>

namespace uctrace::interpose {

// For slow paths that install hooks. Costs 1 ns without the variable, else a search.
bool left_out(const char* name, std::size_t length);
inline bool left_out(const char* name) { return left_out(name, __builtin_strlen(name)); }

// The whole value, nullptr: nothing is left out.
const char* leave_out();

}  // namespace uctrace::interpose

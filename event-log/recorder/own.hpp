// Marks a variable that is read on the record path as one of this library. Otherwise the compiler
// first loads its address, because the variable could be in another library. Tests whose sources
// are split into libraries do without.
#pragma once

#ifdef UCTRACE_ONE_LIBRARY
#define UCTRACE_OWN [[gnu::visibility("hidden")]]
#else
#define UCTRACE_OWN
#endif

// A variable that is read on the record path and lies in the library that reads it. Otherwise the
// compiler has to load its address first, for it could lie in another one. Tests whose sources are
// split into libraries do without.
#pragma once

#ifdef UCTRACE_ONE_LIBRARY
#define UCTRACE_OWN [[gnu::visibility("hidden")]]
#else
#define UCTRACE_OWN
#endif

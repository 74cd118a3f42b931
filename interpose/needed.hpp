// The libraries that an object was linked with, as the loader found them.
#pragma once

#include "interpose/objects.hpp"

namespace uctrace::interpose {

// The first object that defines the symbol, in the loader's search order: `from` itself, the
// libraries it needs, those that they need, and so on; this library is skipped. None if `from` is
// none or no object defines it. About 50 us.
Object first_to_define(const char* symbol, const Object& from);

}  // namespace uctrace::interpose

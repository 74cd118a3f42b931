// The libraries that an object was linked with, as the loader found them.
#pragma once

#include "interpose/objects.hpp"

namespace uctrace::interpose {

// The first that defines the symbol: `from` itself, what it needs, what that needs, and so on, in
// the order of a search by the loader; but never this library. None if `from` is none, or if no
// other has it. About 50 us.
Object first_to_define(const char* symbol, const Object& from);

}  // namespace uctrace::interpose

// The libraries above UCX of this process. Private to library-attribution/.
#pragma once

#include "event-log/recorder/own.hpp"
#include "library-attribution/call.h"

namespace uctrace::library {

namespace detail {
UCTRACE_OWN extern constinit bool recording;
}
// Whether calls are measured. Set once, before the first original becomes visible.
inline bool is_recording() { return detail::recording; }

// The original of a function that `caller` calls. Keeps errno.
void* resolve(UctraceLibraryFunction& function, UctraceWord caller);

// Tells the log the name of a function.
void name_function(const UctraceLibraryFunction& function);

// Once per log and library, after a call of it has returned: tells what it is. A load or two later
// on.
void tell_library(const UctraceLibraryCall& call);

// What the library says of itself, for a person; "" if it does not. Asks it.
struct VersionText {
  char text[512];
};
VersionText version_of(unsigned library, const void* caller);

}  // namespace uctrace::library

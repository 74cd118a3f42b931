// The libraries above UCX of this process. Private to library-attribution/.
#pragma once

#include "event-log/recorder/own.hpp"
#include "interpose/original.hpp"
#include "library-attribution/call.h"

namespace uctrace::library {

namespace detail {
UCTRACE_OWN extern constinit bool recording;
}
// Whether calls are measured. Set once, before the first original becomes visible.
inline bool is_recording() { return detail::recording; }

using Original = interpose::Original<void (*)()>;

// Of the callers of a function; the first call makes it. nullptr: this is the first call.
inline Original* originals_of(const UctraceLibraryFunction& function) {
  return static_cast<Original*>(__atomic_load_n(&function.originals, __ATOMIC_ACQUIRE));
}
// The original of a function that `caller` calls, found now. Keeps errno.
void* find_original(UctraceLibraryFunction& function, UctraceWord caller);

// Two loads after the first call, if there is one copy of the library: several copies in private
// scopes have callers of their own.
inline void* original_of(UctraceLibraryFunction& function, UctraceWord caller) {
  const Original* known = originals_of(function);
  if (known != nullptr) [[likely]] {
    if (const auto original = known->get_known()) return reinterpret_cast<void*>(original);
  }
  return find_original(function, caller);
}

// Tells the log the name of a function.
void name_function(const UctraceLibraryFunction& function);

// Once per log and library, after a call of it has returned: tells what it is. A load or two later
// on.
void tell_library(const UctraceLibraryCall& call);

// What the library that holds this code says of itself, for a person; "" if it does not. Asks it.
struct VersionText {
  char text[512];
};
VersionText version_of(unsigned library, const void* code);

}  // namespace uctrace::library

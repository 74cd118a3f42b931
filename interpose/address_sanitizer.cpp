// A program that GCC built with -fsanitize=address ends at its start if another library comes
// before the sanitizer's own in the list of loaded ones, as one that is preloaded does. Putting the
// sanitizer first into LD_PRELOAD instead would run it in all that the job starts: launchers,
// shells and commands, which it ends with an error for what they leak. Nothing that it intercepts
// is lost by this library in front: what is defined in both (dlclose) calls the next one.
#include <dlfcn.h>

#include <cstddef>

#include "interpose/export.hpp"

// The sanitizer asks for its settings by this name at its start. What a library of the program says
// comes behind, and the user's ASAN_OPTIONS come last. A program that says it itself is asked
// instead of this one; `uctrace check` names that. Nothing is called here that the sanitizer
// intercepts, and nothing here is instrumented where this is itself built with it: it is not ready.
UCTRACE_EXPORT __attribute__((no_sanitize("address"), no_sanitize("undefined"))) const char*
__asan_default_options() {
  static constinit char options[4096] = "verify_asan_link_order=0";
  constexpr std::size_t kOwn = sizeof "verify_asan_link_order=0" - 1;
  const auto next = reinterpret_cast<const char* (*)()>(dlsym(RTLD_NEXT, "__asan_default_options"));
  const char* theirs = next != nullptr ? next() : nullptr;
  std::size_t end = kOwn;
  for (const char* at = theirs; at != nullptr && *at != '\0' && end + 2 < sizeof options; ++at) {
    if (end == kOwn) options[end++] = ':';
    options[end++] = *at;
  }
  options[end] = '\0';
  return options;
}

// A program that GCC built with -fsanitize=address exits at start-up if any other library, such as
// a preloaded one, comes before the sanitizer's in the list of loaded libraries. Putting the
// sanitizer first into LD_PRELOAD is no way out: it would then run in everything that the job
// starts (launchers, shells, commands) and fail these for their leaks. The sanitizer loses no
// interception by coming second: for the function that both define (dlclose), ours calls the next
// one.
#include <dlfcn.h>

#include <cstddef>

#include "interpose/export.hpp"

// The sanitizer asks for its settings by this name at its start. Settings of the program's
// libraries are appended, and the user's ASAN_OPTIONS override both. A program with this function
// of its own is asked instead of us; `uctrace check` says so. The sanitizer is not ready when it
// asks: so this calls nothing that it intercepts, and is not instrumented even if uctrace is built
// with it.
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

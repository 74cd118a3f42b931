#include "library-attribution/libraries.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "event-log/recorder/new_log.hpp"
#include "event-log/recorder/once_per_log.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/fork_lock.hpp"
#include "interpose/scope.hpp"

namespace uctrace::library {

namespace detail {
constinit bool recording = false;
}

namespace {

constexpr unsigned kMostLibraries = 1u << (16 - log::LibraryCall::kFunctionBits);
constinit log::OncePerLog told[kMostLibraries];

unsigned library_of(const UctraceLibraryFunction& function) {
  return function.number >> log::LibraryCall::kFunctionBits;
}

// A fork child has another log.
void forget_names() {
  for (unsigned i = 0; i < uctrace_library_count; ++i) {
    const UctraceLibrary& library = uctrace_libraries[i];
    for (unsigned f = 0; f < library.function_count; ++f) {
      std::atomic_ref(library.functions[f].described).store(false, std::memory_order_relaxed);
    }
  }
}

[[noreturn]] void stop_for_missing(const char* name) {
  dprintf(STDERR_FILENO,
          "uctrace: the program calls %s, but no library it has loaded defines that function "
          "(undefined symbol). Link the program with a library that has it.\n",
          name);
  std::abort();
}

// Recursive: a library's start-up code may call its functions during the search.
constinit interpose::RecursiveForkLock resolving;
constinit bool is_begun = false;

// At the first call of any library.
void begin_recording() {
  if (is_begun) return;
  is_begun = true;
  detail::recording =
      log::start() && log::layer_state(log::Layer::library) != log::LayerState::unwanted;
  log::at_new_log(forget_names);
}

}  // namespace

void* resolve(UctraceLibraryFunction& function, UctraceWord caller) {
  const int saved_errno = errno;
  const interpose::Held held(resolving);
  begin_recording();
  void* original =
      interpose::Scope(reinterpret_cast<const void*>(caller)).find_function(function.name);
  // A tail call leaves another caller's address behind, which may know nothing of the library.
  if (original == nullptr) original = interpose::find_anywhere(function.name);
  if (original == nullptr) stop_for_missing(function.name);
  std::atomic_ref(function.original).store(original, std::memory_order_release);
  errno = saved_errno;
  return original;
}

void name_function(const UctraceLibraryFunction& function) {
  log::set_layer(log::Layer::library, log::LayerState::on);
  log::define_text(log::TextKind::library_function, function.number, function.name,
                   __builtin_strlen(function.name));
}

void tell_library(const UctraceLibraryCall& call) {
  const unsigned number = library_of(*call.function);
  if (!told[number].take()) [[likely]] {
    return;
  }
  const int saved_errno = errno;
  const VersionText version = version_of(number, reinterpret_cast<const void*>(call.caller));
  char text[sizeof version.text + 64];
  const int length =
      snprintf(text, sizeof text, "%s\n%s", uctrace_libraries[number].name, version.text);
  log::define_text(log::TextKind::library, number, text, static_cast<std::size_t>(length));
  errno = saved_errno;
}

}  // namespace uctrace::library

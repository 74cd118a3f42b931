#include "library-attribution/libraries.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "event-log/recorder/new_log.hpp"
#include "event-log/recorder/once_per_log.hpp"
#include "event-log/recorder/recorder.hpp"
#include "interpose/fork_lock.hpp"

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

// Recursive: beginning a log may load a library whose start-up code calls these functions.
constinit interpose::RecursiveForkLock beginning;
constinit bool is_begun = false;

// In the order of first calls. Memory only where it is used.
alignas(Original) constinit std::byte originals[kUctraceMostLibraryFunctions][sizeof(Original)]{};
constinit std::size_t used_originals = 0;

// At the first call of any library.
void begin_recording() {
  if (is_begun) return;
  is_begun = true;
  detail::recording =
      log::start() && log::layer_state(log::Layer::library) != log::LayerState::unwanted;
  log::at_new_log(forget_names);
}

void make_originals(UctraceLibraryFunction& function) {
  const interpose::Held held(beginning);
  begin_recording();
  if (originals_of(function) != nullptr) return;
  void* const made = new (originals[used_originals++]) Original(function.name);
  __atomic_store_n(&function.originals, made, __ATOMIC_RELEASE);
}

}  // namespace

void* find_original(UctraceLibraryFunction& function, UctraceWord caller) {
  const int saved_errno = errno;
  make_originals(function);
  void* original =
      reinterpret_cast<void*>(originals_of(function)->get(reinterpret_cast<const void*>(caller)));
  if (original == nullptr) stop_for_missing(function.name);
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
  const VersionText version = version_of(number, original_of(*call.function, call.caller));
  char text[sizeof version.text + 64];
  const int length =
      snprintf(text, sizeof text, "%s\n%s", uctrace_libraries[number].name, version.text);
  log::define_text(log::TextKind::library, number, text, static_cast<std::size_t>(length));
  errno = saved_errno;
}

}  // namespace uctrace::library

#include "interpose/original.hpp"

#include <dlfcn.h>

#include "interpose/fork_lock.hpp"
#include "interpose/patched.hpp"

namespace uctrace::interpose {

constinit std::atomic<bool> callers_differ{false};

namespace {

// Serialises appending; held for a few stores only, never during a call of the loader: the loader
// runs constructors under its own lock, and these may call functions that are interposed here.
constinit ForkLock appending;

}  // namespace

const char* module_path(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

void OriginalBase::know_global(void* function) {
  const Held guard(appending);
  global_.store(function, std::memory_order_release);
  if (locals_.load(std::memory_order_relaxed) == 0) {
    for_all_.store(function, std::memory_order_release);
  }
}

void* OriginalBase::find_local(const void* caller) const {
  const std::uint32_t n = locals_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (local_[i].object.holds(caller)) {
      return local_[i].function;
    }
  }
  return nullptr;
}

void OriginalBase::remember_local(const void* caller, const Local& local) {
  const Held guard(appending);
  const std::uint32_t n = locals_.load(std::memory_order_relaxed);
  if (n < kMaxLocals && find_local(caller) == nullptr) {
    local_[n] = local;
    for_all_.store(nullptr, std::memory_order_relaxed);
    locals_.store(n + 1, std::memory_order_release);
  }
}

void* OriginalBase::find(const void* caller) {
  if (void* known = find_local(caller)) {
    return known;
  }
  if (!callers_differ.load(std::memory_order_relaxed)) {
    if (void* global = global_.load(std::memory_order_acquire)) {
      return global;
    }
    if (void* next = Scope::find_in_global(name_); next != nullptr && !Patched(name_).exists()) {
      know_global(next);
      return next;
    }
  }
  void* function = Scope(caller).find_function(name_);
  if (function == nullptr) {
    // After a tail call inside a library, the return address is that of the library's own caller:
    // this library, or the host of a plug-in. The object that is found gets opened, so it stays
    // loaded, as a Scope keeps its finds loaded.
    function = find_anywhere(name_);
    if (function != nullptr) open_object_at(function);
  }
  const ObjectRange object = object_at(caller);
  if (function != nullptr && !object.empty()) {
    remember_local(caller, {object, function});
  }
  return function;
}

void look_for_patched_ucx() {
  if (!callers_differ.load(std::memory_order_relaxed) && Patched("uct_iface_open").exists()) {
    callers_differ.store(true, std::memory_order_relaxed);
  }
}

}  // namespace uctrace::interpose

#include "interpose/original.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sched.h>

namespace uctrace::interpose {

namespace {

// Serialises first look-ups; never taken once a function is known.
constinit std::atomic_flag looking = ATOMIC_FLAG_INIT;

struct LookingGuard {
  LookingGuard() {
    while (looking.test_and_set(std::memory_order_acquire)) {
      sched_yield();
    }
  }
  ~LookingGuard() { looking.clear(std::memory_order_release); }
};

void* resolve_in_callers_scope(const char* name, const void* caller) {
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(caller, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
      map == nullptr || map->l_name == nullptr || map->l_name[0] == '\0') {
    return nullptr;
  }
  // The handle is kept: it pins the caller, and with it the original.
  void* handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
  return handle != nullptr ? dlsym(handle, name) : nullptr;
}

struct RangeQuery {
  std::uintptr_t address;
  Module found;
};

int match_range(dl_phdr_info* object, std::size_t, void* data) {
  auto* query = static_cast<RangeQuery*>(data);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    const std::uintptr_t low = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && query->address - low < segment.p_memsz) {
      query->found = {low, low + segment.p_memsz, nullptr};
      return 1;
    }
  }
  return 0;
}

}  // namespace

void* resolve(const char* name, const void* caller) {
  void* next = dlsym(RTLD_NEXT, name);
  return next != nullptr ? next : resolve_in_callers_scope(name, caller);
}

const char* module_path(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

void* OriginalBase::find_local(std::uintptr_t caller) const {
  const std::uint32_t n = locals_.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (caller - local_[i].low < local_[i].high - local_[i].low) {
      return local_[i].function;
    }
  }
  return nullptr;
}

void* OriginalBase::find(const void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  if (void* known = find_local(address)) {
    return known;
  }
  void* global = global_.load(std::memory_order_acquire);
  if (global != nullptr) {
    return global;
  }
  const LookingGuard guard;
  if (void* next = dlsym(RTLD_NEXT, name_)) {
    global_.store(next, std::memory_order_release);
    return next;
  }
  RangeQuery query{address, {}};
  void* local = resolve_in_callers_scope(name_, caller);
  const std::uint32_t n = locals_.load(std::memory_order_relaxed);
  if (local != nullptr && n < kMaxLocals && dl_iterate_phdr(match_range, &query) != 0) {
    local_[n] = query.found;
    local_[n].function = local;
    locals_.store(n + 1, std::memory_order_release);
  }
  return local;
}

}  // namespace uctrace::interpose

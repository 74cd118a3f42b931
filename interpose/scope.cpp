#include "interpose/scope.hpp"

#include <dlfcn.h>

#include "interpose/needed.hpp"
#include "interpose/objects.hpp"
#include "interpose/patched.hpp"

namespace uctrace::interpose {

namespace {

struct Search {
  const void* address;
  ObjectRange found;
};

struct Definition {
  const char* symbol;
  void* address;
};

int search_definition(dl_phdr_info* info, std::size_t, void* data) {
  auto* wanted = static_cast<Definition*>(data);
  const Object object(*info);
  wanted->address = object && !object.is_own() ? object.find(wanted->symbol) : nullptr;
  return wanted->address != nullptr ? 1 : 0;
}

int search_object(dl_phdr_info* object, std::size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  const ObjectRange range = range_of(*object);
  if (!range.holds(search->address)) {
    return 0;
  }
  search->found = range;
  return 1;
}

}  // namespace

ObjectRange range_of(const dl_phdr_info& object) {
  ObjectRange range{UINTPTR_MAX, 0};
  for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) {
      continue;
    }
    const std::uintptr_t start = object.dlpi_addr + segment.p_vaddr;
    range.begin = start < range.begin ? start : range.begin;
    range.end = start + segment.p_memsz > range.end ? start + segment.p_memsz : range.end;
  }
  return range.begin < range.end ? range : ObjectRange{0, 0};
}

void* Scope::find_function(const char* symbol) {
  const Patched patched(symbol);
  if (!patched.exists()) [[likely]] {
    void* address = find_in_global(symbol);
    return address != nullptr ? address : find_in_own(symbol);
  }
  if (void* linked = patched.linked_with(caller_)) {
    return linked;
  }
  // An object linked with a library calls the function that the loader bound it to. Any other
  // caller asked for the function by name, most likely through a handle of the patched UCX: only
  // there does such a search find ours.
  void* global = find_in_global(symbol);
  const Object caller = object_of(caller_);
  if (global != nullptr && caller && caller.imports(symbol)) {
    return global;
  }
  if (void* own = find_in_own(symbol)) {
    return own;
  }
  return patched.likely(global);
}

void* Scope::find_variable(const char* symbol) {
  void* address = dlsym(RTLD_DEFAULT, symbol);
  return address != nullptr ? address : find_in_own(symbol);
}

void* Scope::find_in_global(const char* symbol) { return dlsym(RTLD_NEXT, symbol); }

void* Scope::find_in_own(const char* symbol) {
  if (own_ == nullptr) {
    own_ = open_object_at(caller_);
  }
  void* address = own_ != nullptr ? dlsym(own_, symbol) : nullptr;
  if (address == nullptr || !object_of(address).is_own()) {
    return address;
  }
  const Object behind = first_to_define(symbol, object_of(caller_));
  return behind ? behind.find(symbol) : nullptr;
}

void* find_anywhere(const char* symbol) {
  Definition wanted{symbol, nullptr};
  dl_iterate_phdr(search_definition, &wanted);
  return wanted.address;
}

ObjectRange object_at(const void* address) {
  Search search{address, {}};
  dl_iterate_phdr(search_object, &search);
  return search.found;
}

void* open_object_at(const void* address) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
      map == nullptr || map->l_name == nullptr || map->l_name[0] == '\0') {
    return nullptr;
  }
  return dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

}  // namespace uctrace::interpose

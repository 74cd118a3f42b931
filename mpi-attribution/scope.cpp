#include "mpi-attribution/scope.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>

namespace uctrace::mpi {
namespace {

// Symbols that only a Fortran binding defines: mpif.h and `use mpi`, and `use mpi_f08`.
constexpr const char* kBindingSymbols[] = {"mpi_send_", "mpi_init_f08_"};

// nullptr for the main program too: its scope is the global one.
void* open_object_of(const void* caller) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(caller, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return nullptr;
  if (map == nullptr || map->l_name == nullptr || map->l_name[0] == '\0') return nullptr;
  return dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

struct Search {
  std::uintptr_t address;
  std::uintptr_t begin, end;
};

int search_object(dl_phdr_info* object, std::size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  std::uintptr_t begin = UINTPTR_MAX, end = 0;
  for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t start = object->dlpi_addr + segment.p_vaddr;
    if (start < begin) begin = start;
    if (start + segment.p_memsz > end) end = start + segment.p_memsz;
  }
  if (search->address < begin || search->address >= end) return 0;
  search->begin = begin;
  search->end = end;
  return 1;
}

bool defines_binding(const Search& object, void* handle) {
  for (const char* symbol : kBindingSymbols) {
    // The search goes on in the object's dependencies: only a definition of its own counts.
    const auto address = reinterpret_cast<std::uintptr_t>(dlsym(handle, symbol));
    if (address >= object.begin && address < object.end) return true;
  }
  return false;
}

}  // namespace

void* Scope::find_function(const char* symbol) {
  void* address = dlsym(RTLD_NEXT, symbol);
  return address != nullptr ? address : find_in_own(symbol);
}

void* Scope::find_variable(const char* symbol) {
  void* address = dlsym(RTLD_DEFAULT, symbol);
  return address != nullptr ? address : find_in_own(symbol);
}

void* Scope::find_in_own(const char* symbol) {
  if (own_ == nullptr) own_ = open_object_of(caller_);
  return own_ != nullptr ? dlsym(own_, symbol) : nullptr;
}

CallerObject object_of(const void* caller) {
  Search search{reinterpret_cast<std::uintptr_t>(caller), 0, 0};
  if (dl_iterate_phdr(search_object, &search) == 0) return {};
  void* handle = open_object_of(caller);
  return {reinterpret_cast<const void*>(search.begin), reinterpret_cast<const void*>(search.end),
          defines_binding(search, handle != nullptr ? handle : RTLD_DEFAULT)};
}

}  // namespace uctrace::mpi

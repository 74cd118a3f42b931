// Finds functions of a driver's library by name, for all vendors.
#pragma once

#include <dlfcn.h>

namespace uctrace::gpu {

// False: the library has no such function, and `function` is nullptr.
template <typename Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// Finds the functions needed to ask a driver, and tells the first that is missing.
struct NeededFunctions {
  void* library;
  const char** missing;

  template <typename Function>
  bool operator()(const char* name, Function& function) const {
    if (find_function(library, name, function)) return true;
    *missing = name;
    return false;
  }
};

}  // namespace uctrace::gpu

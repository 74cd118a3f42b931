// Where a caller would find the symbols of a library if this one were not there.
//
// A preloaded function comes before all others of its name. The original is the next one in the
// global scope; if there is none, the library was loaded into a private scope (a Python wheel, a
// plug-in), and the original is found through the calling object's own scope. No library is named,
// so any soname and path works.
//
// A UCX that was built with patches/ lets this library come first in private scopes, too. There the
// original is that of the UCX that the caller is linked with (patched.hpp).
#pragma once

#include <link.h>

#include <cstdint>

namespace uctrace::interpose {

class Scope {
 public:
  explicit Scope(const void* caller) : caller_(caller) {}

  // The address of a function, nullptr if the caller could not reach it. About 1 us.
  void* find_function(const char* symbol);

  // The same for a variable. A program may hold the only valid copy of a library's variable (a copy
  // relocation), so the search starts at the program.
  void* find_variable(const char* symbol);

  // The same for any caller: nullptr if only the caller's own scope has it.
  static void* find_in_global(const char* symbol);

 private:
  void* find_in_own(const char* symbol);

  const void* caller_;
  void* own_ = nullptr;  // handle of the caller's object; stays open, which pins it and its library
};

// The address of a symbol in the first loaded object that defines it, in any scope, except this
// library. nullptr: no object defines it. About 50 us.
void* find_anywhere(const char* symbol);

// The addresses at which a program or library is loaded: [begin, end). Empty: nothing is there.
struct ObjectRange {
  std::uintptr_t begin, end;

  bool empty() const { return begin == end; }
  bool holds(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - begin < end - begin;
  }
};

ObjectRange range_of(const dl_phdr_info& object);

// The object that holds this address; empty for code made at run time. About 10 us.
ObjectRange object_at(const void* address);

// A handle of that object for dlsym; nullptr for the main program, whose scope is the global one.
void* open_object_at(const void* address);

}  // namespace uctrace::interpose

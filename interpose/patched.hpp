// The loaded libraries of a UCX that was built with patches/, by a function that they define.
#pragma once

#include "interpose/objects.hpp"

namespace uctrace::interpose {

class Patched {
 public:
  // Cost: about 5 us where there is none.
  explicit Patched(const char* function);

  bool exists() const { return count_ > 0; }

  // The function of the library that this caller, or a library that it needs, is linked with;
  // nullptr if there is none, or another copy takes its place. About 50 us.
  void* linked_with(const void* caller) const;

  // The function of the only one. If there are several, or the global scope has another, it is that
  // of the first, and undecided() names it.
  void* any_but(const void* global) const;

 private:
  const char* function_;
  Object first_;
  int count_ = 0;
};

// A function of which it could not be said whose original to call; nullptr: all is clear.
const char* undecided();

}  // namespace uctrace::interpose

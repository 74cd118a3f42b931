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

  // The function that who asked for it by name most likely got: that of a copy in a private scope,
  // where it is asked for through a handle, before that of the global one. If there are several
  // such, or two kinds, it is a guess, and undecided() names it.
  void* likely(const void* global) const;

 private:
  const char* function_;
  static constexpr int kMost = 8;
  void* functions_[kMost];
  int count_ = 0;
};

// A function of which it could not be said whose original to call; nullptr: all is clear.
const char* undecided();

}  // namespace uctrace::interpose

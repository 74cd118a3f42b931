// The loaded libraries of a UCX that was built with patches/, by a function that they define.
#pragma once

#include "interpose/objects.hpp"

namespace uctrace::interpose {

class Patched {
 public:
  // Cost: about 5 us where there is none.
  explicit Patched(const char* function);

  bool exists() const { return count_ > 0; }

  // The function of the library that this caller is linked with, directly or through a library that
  // it needs; nullptr if there is none, or if another copy shadows it. About 50 us.
  void* linked_with(const void* caller) const;

  // The most likely original for a caller that asked for the function by name: the copy in a
  // private scope, which callers reach through a handle, before the global one. With several
  // private copies, or copies of both kinds, this is a guess, and undecided() names the function.
  void* likely(const void* global) const;

 private:
  const char* function_;
  static constexpr int kMost = 8;
  void* functions_[kMost];
  int count_ = 0;
};

// A function whose original had to be guessed; nullptr: there was none.
const char* undecided();

}  // namespace uctrace::interpose

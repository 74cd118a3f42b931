// Functions that rooms register, to be called later in that order. Takes no memory and no lock: a
// signal handler may register, too.
#pragma once

#include <atomic>
#include <cstddef>

namespace uctrace::log {

template <typename Function, std::size_t kMost>
class Registered {
 public:
  // A function that is already registered is not added again. False: there is no place left.
  bool add(Function function) {
    for (auto& place : places_) {
      Function there = nullptr;
      if (place.compare_exchange_strong(there, function) || there == function) return true;
    }
    return false;
  }

  template <typename... Arguments>
  void call(Arguments... arguments) const {
    for (const auto& place : places_) {
      if (const Function function = place.load()) function(arguments...);
    }
  }

 private:
  std::atomic<Function> places_[kMost]{};
};

}  // namespace uctrace::log

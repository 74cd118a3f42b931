// For tests of threads that pack: a thread that is held by a signal, and waiting for conditions
// that several threads meet.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>

#include "tests/unit/recording_folder.hpp"

namespace uctrace::log::test {

// Within a time that is enough on a busy machine.
template <typename Condition>
bool happens(Condition condition) {
  return comes_true(condition, std::chrono::seconds(30));
}

inline std::atomic<bool> is_away, may_go_on;

// A handler of signals.
inline void stay_until_let_go(int) {
  is_away = true;
  while (!may_go_on) usleep(1000);
  is_away = false;
}

struct LetGo {
  ~LetGo() { may_go_on = true; }
};

}  // namespace uctrace::log::test

// Older functions of UCP call their newer forms, which are recorded: under the name that the
// program called.
#pragma once

#include "event-log/format/kinds.hpp"

namespace uctrace::ucp {

// The older form that the program called, while its nbx form runs inside it. If it calls another
// older form, the first name stays.
extern thread_local constinit log::UcpFunction called_as __attribute__((tls_model("initial-exec")));

class CalledAs {
 public:
  explicit CalledAs(log::UcpFunction function) : outermost_(called_as == log::UcpFunction::none) {
    called_as = outermost_ ? function : called_as;
  }
  ~CalledAs() { called_as = outermost_ ? log::UcpFunction::none : called_as; }
  CalledAs(const CalledAs&) = delete;
  CalledAs& operator=(const CalledAs&) = delete;

 private:
  bool outermost_;
};

// The name to record. Taking it clears it, so that calls made by callbacks inside do not inherit
// it.
inline log::UcpFunction name_for(log::UcpFunction nbx) {
  const log::UcpFunction function = called_as != log::UcpFunction::none ? called_as : nbx;
  called_as = log::UcpFunction::none;
  return function;
}

}  // namespace uctrace::ucp

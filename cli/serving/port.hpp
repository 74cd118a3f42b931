// The option --port.
#pragma once

#include <cstddef>
#include <string>

#include "event-log/reader/error.hpp"

namespace uctrace::serving {

// 0 is any free port. Throws Error for an invalid port.
inline void require_port(std::size_t port) {
  constexpr std::size_t kMostPort = 65535;
  if (port <= kMostPort) return;
  throw Error({.what = "--port " + std::to_string(port),
               .why = "it is greater than 65535",
               .to_do = "give another one, or 0 for any that is free"});
}

}  // namespace uctrace::serving

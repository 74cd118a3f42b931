// The releases of UCX that the shims know (ucx-facts/releases.hpp), in words.
#pragma once

#include <fmt/format.h>

#include <string>

#include "ucx-facts/releases.hpp"

namespace uctrace::cli {

inline std::string known_ucx() {
  return fmt::format("UCX {0}.{1} to {0}.{2}", ucx::kMajor, ucx::kOldest.minor, ucx::kNewest.minor);
}

}  // namespace uctrace::cli

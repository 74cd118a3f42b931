// The releases of UCX that patches/ucx-hooks.patch is made for.
#pragma once

#include <string>

#include "cli/build_ucx/configuration.hpp"
#include "uct-shim/supported_ucx.hpp"

namespace uctrace::cli::build_ucx {

// 1.11 lacks what the patch changes; the shims alone know it.
inline constexpr unsigned kOldestPatchable = 12;

inline bool is_patchable(const UcxVersion& version) {
  return uct::is_supported_ucx(version.major, version.minor) && version.minor >= kOldestPatchable;
}

inline std::string patchable_versions() {
  const std::string major = std::to_string(uct::kUcxMajor) + ".";
  return major + std::to_string(kOldestPatchable) + " to " + major +
         std::to_string(uct::kNewestUcxMinor);
}

}  // namespace uctrace::cli::build_ucx

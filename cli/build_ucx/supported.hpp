// The releases of UCX that patches/ucx-hooks.patch is made for.
#pragma once

#include <fmt/format.h>

#include <string>

#include "cli/build_ucx/configuration.hpp"
#include "ucx-facts/releases.hpp"

namespace uctrace::cli::build_ucx {

inline bool is_patchable(const UcxVersion& version) {
  const ucx::Release* const release = ucx::find_release(version.major, version.minor);
  return release != nullptr && release->has_patch;
}

inline std::string patchable_versions() {
  unsigned first = 0, last = 0;
  for (const ucx::Release& release : ucx::kReleases) {
    if (!release.has_patch) continue;
    first = first == 0 ? release.minor : first;
    last = release.minor;
  }
  return fmt::format("{0}.{1} to {0}.{2}", ucx::kMajor, first, last);
}

}  // namespace uctrace::cli::build_ucx

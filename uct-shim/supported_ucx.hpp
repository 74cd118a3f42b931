// The releases of UCX whose tables and calls the shims know. Read by the shims in the job and by
// `uctrace check` before it: they must not disagree.
#pragma once

namespace uctrace::uct {

// Tables and calls are the same in all releases from 1.11 to 1.23; others were not looked at.
inline constexpr unsigned kUcxMajor = 1, kOldestUcxMinor = 11, kNewestUcxMinor = 23;

constexpr bool is_supported_ucx(unsigned major, unsigned minor) {
  return major == kUcxMajor && minor >= kOldestUcxMinor && minor <= kNewestUcxMinor;
}

}  // namespace uctrace::uct

// Memory as reported by the vendors' layers, for the tests of each: an attributor that queries the
// loaded drivers, and its last answer.
#pragma once

#include <dlfcn.h>

#include "device-attributor/attributor.hpp"
#include "tests/virtual-gpu/alone.hpp"

namespace uctrace::gpu::test {

inline Answer last;
inline int last_error = 0;
inline unsigned ends = 0;

inline const Listener kListener{.defined =
                                    [](MemoryId, const Answer& answer) {
                                      last = answer;
                                      return true;
                                    },
                                .ended = [](MemoryId, MemoryEnd) { ++ends; },
                                .failed = [](int error) { last_error = error; }};

// Asks the driver of the vendor from now on; the program is linked with it.
inline void ask(const Vendor& vendor, Attributor& attributor) {
  const char* missing = nullptr;
  EXPECT(vendor.resolve(dlopen(vendor.library, RTLD_LAZY | RTLD_NOLOAD), &missing));
  attributor.use(vendor, kListener);
}

inline bool is(DeviceMemoryKind kind, int device) {
  return last.kind == kind && last.device == device;
}

}  // namespace uctrace::gpu::test

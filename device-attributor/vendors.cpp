#include "device-attributor/vendor.hpp"

namespace uctrace::gpu {

constinit const Vendor* const kVendors[] = {&kCuda, &kRocm, &kLevelZero, nullptr};

}  // namespace uctrace::gpu

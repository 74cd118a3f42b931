#include "device-attributor/vendor.hpp"

namespace uctrace::gpu {

constinit const Vendor* const kVendors[] = {&kCuda, nullptr};

}  // namespace uctrace::gpu

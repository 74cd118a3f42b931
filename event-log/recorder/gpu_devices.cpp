#include "event-log/recorder/gpu_devices.hpp"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "device-attributor/vendor-facts/vendor_facts.hpp"

namespace uctrace::log {

namespace {

constexpr const char* kDevices = "/dev";
constexpr const char* kWindowsDevice = "/dev/dxg";  // for all GPUs if Linux runs inside Windows

constinit std::atomic<unsigned> lacking{0};  // a bit for each vendor, by its place

// If asking is forbidden, the device may exist.
bool is_missing(const char* device) {
  char path[1024];
  const char* folder = getenv("UCTRACE_TEST_DEVICES");  // instead of /dev
  snprintf(path, sizeof path, "%s%s", folder != nullptr ? folder : kDevices,
           device + strlen(kDevices));
  return access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

}  // namespace

void look_for_gpu_devices() {
  unsigned found_none = 0;
  for (const gpu::VendorFacts& facts : gpu::kVendorFacts) {
    if (facts.device != nullptr && is_missing(facts.device) && is_missing(kWindowsDevice)) {
      found_none |= 1u << gpu::place_of(facts.vendor);
    }
  }
  lacking.store(found_none, std::memory_order_relaxed);
}

bool lacks_gpu_device(Vendor vendor) {
  return (lacking.load(std::memory_order_relaxed) >> gpu::place_of(vendor) & 1) != 0;
}

}  // namespace uctrace::log

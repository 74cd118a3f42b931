// Whether a machine has GPUs of a vendor, by the device files of its kernel. A loaded driver
// library proves nothing: UCX and MPI load some of them on machines without a GPU.
#pragma once

#include "event-log/format/device_kinds.hpp"

namespace uctrace::log {

// Once, at the start: at the end a sandbox may not allow it.
void look_for_gpu_devices();

// False for a vendor that needs no device file, and before they were looked for.
bool lacks_gpu_device(Vendor vendor);

}  // namespace uctrace::log

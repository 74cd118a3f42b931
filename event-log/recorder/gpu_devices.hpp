// Whether a machine has GPUs of a vendor, by the device files of its kernel. The library of a
// driver alone says nothing: UCX and MPI bring some of them to machines without a GPU.
#pragma once

#include "event-log/format/device_kinds.hpp"

namespace uctrace::log {

// Once, at the start: at the end a sandbox may not permit the question.
void look_for_gpu_devices();

// Of a vendor that needs no device file, or before they were looked for: false.
bool lacks_gpu_device(Vendor vendor);

}  // namespace uctrace::log

// The topology of the node: its PCI devices, and what is between them.
#pragma once

namespace uctrace::gpu {

// Has it written beside the logs by a separate program, once for all processes of the node. Call it
// when there is a GPU. It acts once per log, and then only copies a few names and returns. Keeps
// errno.
void take_topology();

}  // namespace uctrace::gpu

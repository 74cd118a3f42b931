// The topology of the node: which PCI devices it has, and what lies between them.
#pragma once

namespace uctrace::gpu {

// Has it written beside the logs, by a program of its own, once for all processes of the node. To
// be called when there is a GPU; does something once in each log, and then it copies a few names
// and is gone. Keeps errno.
void take_topology();

}  // namespace uctrace::gpu

// Copies between the memories of one process, to stage data of UCP operations. Private to the
// attribution.
#pragma once

#include "log-merger/attribute/attribution.hpp"

namespace uctrace::merge {

// Copies between memories of one process, such as from a GPU to the host: UCP makes them for data
// that it sends or has received, even outside other operations.
void find_device_copies(Job& job);

// Copies out of a message that its handler delivers. Answers to an announcement of the receiver
// name it by an id. Other messages with the same header arrive in sending order, as long as one
// process sends them.
void attribute_delivered_copies(Job& job, OpenOperations& open);

// Puts and gets inside a process whose data go to another one: copies between GPU and host memory
// on the way.
void find_copies(Job& job);

}  // namespace uctrace::merge

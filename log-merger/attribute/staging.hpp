// Copies between the memories of one process, to stage data of UCP operations. Private to the
// attribution.
#pragma once

#include "log-merger/attribute/attribution.hpp"

namespace uctrace::merge {

// Between the memories of one process, as from a GPU to host memory: done by UCP for what it
// sends or has received, even where that is no part of another operation.
void find_device_copies(Job& job);

// Copies out of a message that its handler delivers. What answers an announcement of the receiver
// names it by an id. Other messages with the same header arrive in the order in which they were
// sent, as long as one process sends them.
void attribute_delivered_copies(Job& job, OpenOperations& open);

// Puts and gets that stay in their process while the data go to another one: copies between the
// memory of a GPU and the host's, on the way there.
void find_copies(Job& job);

}  // namespace uctrace::merge

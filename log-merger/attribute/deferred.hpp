// UCT operations of UCP operations that UCP queued inside itself, while it connected, and posted
// later from progress: no shim sees for whom. Private to the attribution.
#pragma once

#include "log-merger/attribute/attribution.hpp"

namespace uctrace::merge {

// Ties them by their content, where it is that of one operation of which nothing is known.
// `started`: by UCP operation, whether one of its UCT operations is known; updated.
void attribute_deferred(Job& job, StartedOperations& started);

// Flushes that UCP posts from progress serve the UCP flush that is in progress.
void attribute_flushes(Job& job);

}  // namespace uctrace::merge

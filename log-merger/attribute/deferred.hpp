// UCT operations of deferred requests, which UCP queued during wire-up and posted later from
// progress: the shims cannot see for which operation. Private to the attribution.
#pragma once

#include "log-merger/attribute/attribution.hpp"

namespace uctrace::merge {

// Ties them by content, if this fits exactly one operation that has no known UCT operation yet.
// `started`: by UCP operation, whether one of its UCT operations is known; updated.
void attribute_deferred(Job& job, StartedOperations& started);

// Flushes that UCP posts from progress serve the UCP flush that is in progress.
void attribute_flushes(Job& job);

}  // namespace uctrace::merge

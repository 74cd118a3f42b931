// Requests that UCP gave to the program and that have not ended: what tells one that the program
// frees early. UCP then drops its callback, and with it ours; so we ask UCP to release the request
// instead, which keeps the callback, and keep it from the program ourselves.
//
// Protocol: a request is listed before it can end, in an empty place, by compare and exchange, and
// its operation keeps the place. A free in between marks it, by compare and exchange, too. The end
// empties the place, which nobody else does meanwhile: it finds the mark and does not call the
// program back. A free that comes while the end looks for a mark is a free after the end.
#pragma once

#include <cstdint>

namespace uctrace::ucp {

// Where a request is listed; 0 = nowhere.
using ActivePlace = std::uint16_t;

// A request returned by its call and tracked. 0: there is no room; freed early, its end will not be
// seen.
ActivePlace list_active(void* request);

// The end of a request that was listed. False: the program has freed it.
bool end_active(ActivePlace place, void* request);

// The program frees a request that has not ended. True: it was listed.
bool mark_freed(void* request);

// What an earlier request at this address, whose end UCP never told, may have left.
void forget_active(void* request);

// What ucp_request_free() is without us.
void free_request(void* request, const void* caller);

}  // namespace uctrace::ucp

// Requests that UCP gave to the program and that have not ended. The list shows which of them the
// program frees early. UCP would then drop its callback, and ours with it. So we ask UCP to release
// the request instead, which keeps our callback, and do not call the program's.
//
// Protocol: a request is listed before it can end, in an empty place, by compare and exchange, and
// its operation keeps the place. A free before the end marks it, also by compare and exchange. The
// end empties the place, which nobody else does meanwhile: it finds the mark and does not call the
// program back. A free that comes while the end looks for a mark is a free after the end.
#pragma once

#include <cstdint>

namespace uctrace::ucp {

// Where a request is listed; 0 = nowhere.
using ActivePlace = std::uint16_t;

// Lists a request that its call returned and that is tracked. 0: there is no room; if the program
// frees it early, its end will not be seen.
ActivePlace list_active(void* request);

// The end of a request that was listed. False: the program has freed it.
bool end_active(ActivePlace place, void* request);

// The program frees a request that has not ended. True: it was listed.
bool mark_freed(void* request);

// Forgets what may be left of an earlier request at this address, whose end UCP never reported.
void forget_active(void* request);

// What ucp_request_free() does without us.
void free_request(void* request, const void* caller);

}  // namespace uctrace::ucp

// Requests that UCP gave to the program and that have not ended: what tells one that the program
// frees early. UCP then drops its callback, and with it ours; so we ask UCP to release the request
// instead, which keeps the callback, and keep it from the program ourselves.
//
// Protocol: a request is listed before it can end, and unlisted by its end, with plain stores. A
// free in between marks it, by compare and exchange: the end finds the mark and does not call the
// program back. Two threads that list at the same place at the same time lose one of the two, as if
// there were no room for it.
#pragma once

namespace uctrace::ucp {

// A request returned by its call and tracked. False: there is no room; freed early, its end will
// not be seen.
bool list_active(void* request);

// The end of a request that was listed. False: the program has freed it.
bool end_active(void* request);

// What an earlier request at this address may have left.
void forget_active(void* request);

// What ucp_request_free() is without us.
void free_request(void* request, const void* caller);

}  // namespace uctrace::ucp

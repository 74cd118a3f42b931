// Requests that UCP gave to the program and that have not ended: what tells one that the program
// frees early. UCP then drops its callback, and with it ours; so we ask UCP to release the request
// instead, which keeps the callback, and keep it from the program ourselves.
//
// Protocol: whoever takes a request out of the list owns its end. The program's callback is called
// only by an end that found the request still listed.
#pragma once

namespace uctrace::ucp {

// A request returned by its call and tracked. False: there is no room; freed early, its end will
// not be seen.
bool list_active(void* request);

// True if it was listed; it is no longer.
bool take_active(void* request);

// What ucp_request_free() is without us.
void free_request(void* request, const void* caller);

}  // namespace uctrace::ucp

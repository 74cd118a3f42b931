// Deferred requests, which UCP keeps in its own queues, mostly during the wire-up of an endpoint.
// They are started later, from progress, where nothing tells for which operation. Their context is
// kept here by the address of the request, which does not change.
//
// An entry ends when the request starts with a known context, is done, or ends as a UCP operation.
// If requests are discarded silently (a failed endpoint, a purged queue), all entries end:
// otherwise a later request at the same address could get a wrong context. Entries that do not fit
// are counted and not kept; the merger then joins by content.
#pragma once

#include <uct/api/uct.h>

#include <atomic>
#include <cstddef>

#include "event-log/recorder/own.hpp"
#include "uct-shim/context.hpp"
#include "ucx-facts/releases.hpp"

namespace uctrace::uct {

// A UCP request is named by the uct_pending_req_t in it. nullptr names none, everywhere here.
using Request = const void*;

void defer(Request request, const Context& context);
void forget_deferred(Request request);
void forget_all_deferred();

// True if the request is known: `context` is then that of its queueing.
bool find_deferred(Request request, Context& context);

UCTRACE_OWN extern constinit std::atomic<std::uint32_t> deferred_requests;
inline bool any_deferred() { return deferred_requests.load(std::memory_order_relaxed) != 0; }

// The callback with which a libucp purges a transport's queue to move the requests into its own;
// requests purged by other callbacks are discarded.
void set_request_mover(uct_pending_purge_callback_t mover);
bool moves_requests(uct_pending_purge_callback_t callback);

// Offsets inside a request; nothing is ever read there. They follow from the version of UCX and its
// request size; 0 = not known, because the build has another size or two copies of UCX differ.
struct alignas(8) RequestLayout {
  std::uint16_t before_handle;     // from the uct_pending_req_t to the program's handle
  std::uint16_t after_completion;  // from the uct_completion_t to the uct_pending_req_t
  std::uint16_t after_begin;       // from the begin of the request to the uct_pending_req_t
  std::uint16_t reserved;
  bool operator==(const RequestLayout&) const = default;
};
RequestLayout request_layout(const ucx::Release& release, std::size_t request_size);
void use_request_layout(const RequestLayout& wanted);

// The request of a program's handle, the one that contains a completion, or the one that begins at
// an address. Safe for any pointer: it need not point to a request.
Request request_of_handle(const void* handle);
Request request_of_completion(const uct_completion_t* completion);
Request request_at(const void* begin);

}  // namespace uctrace::uct

// Requests that UCP keeps in queues of its own, mostly while an endpoint connects: they are started
// again later, from progress, where nothing tells for whom. Their context is kept here by the
// address of the request, which is the same when it comes back.
//
// An entry ends when the request is seen to start on somebody's behalf, to be done, or to end as a
// UCP operation. Where requests are thrown away without a word (a failed endpoint, a purged queue)
// all entries end: what was kept could be told of a later request at the same address. Entries
// beyond the room there is are counted and not kept; the merger then joins by content.
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

// True if the request is known: `context` is what it was queued for.
bool find_deferred(Request request, Context& context);

UCTRACE_OWN extern constinit std::atomic<std::uint32_t> deferred_requests;
inline bool any_deferred() { return deferred_requests.load(std::memory_order_relaxed) != 0; }

// The function with which a libucp purges a transport's queue to take the requests into its own;
// what is purged by others is thrown away.
void set_request_mover(uct_pending_purge_callback_t mover);
bool moves_requests(uct_pending_purge_callback_t callback);

// Where a request has its parts: differences of addresses, from which nothing is ever read. They
// follow from the version of UCX and its size of a request; 0 = not known, for a build of another
// size or two copies of UCX that differ.
struct alignas(8) RequestLayout {
  std::uint16_t before_handle;     // from the uct_pending_req_t to the program's handle
  std::uint16_t after_completion;  // from the uct_completion_t to the uct_pending_req_t
  std::uint16_t after_begin;       // from the begin of the request to the uct_pending_req_t
  std::uint16_t reserved;
  bool operator==(const RequestLayout&) const = default;
};
RequestLayout request_layout(const ucx::Release& release, std::size_t request_size);
void use_request_layout(const RequestLayout& wanted);

// The request that the program's handle stands for, that a completion lies in, or that begins at an
// address. For any pointer; what it points to need not be a request.
Request request_of_handle(const void* handle);
Request request_of_completion(const uct_completion_t* completion);
Request request_at(const void* begin);

}  // namespace uctrace::uct

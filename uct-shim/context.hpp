// For which request the current thread is inside UCX: this context ties UCT operations to the UCP
// operation that they serve. Set by UCP calls and dispatched requests (ucp-shim), by active message
// handlers, pending dispatch and completion callbacks (here); read when a UCT operation is posted.
// Cost: seven stores to enter, seven to leave.
#pragma once

#include <uct/api/uct.h>

#include "event-log/format/file_layout.hpp"

namespace uctrace::uct {

struct Context {
  log::Id origin;
  log::Origin kind;
  log::Route route;

  // Whether it names the only operation that a post serves. Not if nothing is known, nor inside a
  // blocking call, whose progress posts for any operation.
  bool definite() const { return kind != log::Origin::none && route != log::Route::blocking; }

  // The same, if it was kept for later.
  Context by_way_of(log::Route by) const {
    return {origin, kind, route == log::Route::blocking ? route : by};
  }
};

// An operation in progress, for those posted inside it. Held by value: a long jump or an exception
// may leave the call, and its frame must then not be accessed.
struct Posting {
  const void* busy;   // its endpoint, or its Interface if it is for the whole interface; nullptr:
                      // none
  const void* frame;  // its frame: operations posted inside are deeper in the stack
  log::Id id;         // 0: it has none yet
  bool named;         // an operation that was posted inside names it

  // A post on its endpoint, or inside an operation on the whole interface, is part of the same
  // operation: transports call themselves through their table.
  bool covers(const void* interface, uct_ep_h endpoint) const {
    return busy != nullptr && (busy == endpoint || busy == interface);
  }
};

struct ThreadState {
  Context context;
  Posting posting;        // the innermost operation in progress: posts inside are part of it
  std::uint8_t protocol;  // UCP's protocol that is being dispatched (TextKind::ucx_protocol), or 0
  // In this scope, without its inner scopes: an operation was posted; one found no resources.
  bool posted, refused;
  bool inner_idle;  // the last inner scope, directly inside this one, did neither
};

extern thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec")));

// Sets the context for a scope and restores the outer one. A post inside is a separate operation
// even on the busy endpoint: a message to self is handled inside the call that sends it.
class ContextScope {
 public:
  explicit ContextScope(const Context& inner) : outer_(thread_state) {
    thread_state = {inner, {}, 0, false, false, false};
  }
  ~ContextScope() {
    const bool idle = !thread_state.posted && !thread_state.refused;
    thread_state = outer_;
    thread_state.inner_idle = idle;
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  ThreadState outer_;
};

// For the time of a call or handler that is left out: what is posted inside serves nothing that is
// followed, even if recording is switched on meanwhile. As above, a post inside is a separate one.
// Nothing reads in this scope what else the outer one had, so that is only kept.
class NoContextScope {
 public:
  NoContextScope() : outer_(thread_state) {
    thread_state.context = {};
    thread_state.posting.busy = nullptr;
    thread_state.protocol = 0;
  }
  ~NoContextScope() { thread_state = outer_; }
  NoContextScope(const NoContextScope&) = delete;
  NoContextScope& operator=(const NoContextScope&) = delete;

 private:
  ThreadState outer_;
};

}  // namespace uctrace::uct

// On whose behalf the current thread is inside UCX: the request context that ties UCT operations to
// the UCP operation they serve. Set by UCP calls and dispatched requests (ucp-shim), by active
// message handlers, pending dispatch and completion callbacks (here); read when a UCT operation is
// posted. Cost: seven stores to enter, seven to leave.
#pragma once

#include <uct/api/uct.h>

#include "event-log/format/file_layout.hpp"

namespace uctrace::uct {

struct Context {
  log::Id origin;
  log::Origin kind;
  log::Route route;

  // Names the one operation that what is posted serves. Not so where nothing is known, nor inside a
  // blocking call, whose progress posts for anybody.
  bool definite() const { return kind != log::Origin::none && route != log::Route::blocking; }

  // The same when something kept it for later.
  Context by_way_of(log::Route by) const {
    return {origin, kind, route == log::Route::blocking ? route : by};
  }
};

// An operation in progress, as those posted inside it need it. By value: a long jump or an
// exception may leave the call, and nothing may then be read or written where it was.
struct Posting {
  const void* busy;  // its endpoint, or the Interface if it is for the whole of that; nullptr: none
  const void* frame;  // where it is in the stack: what is posted inside is deeper
  log::Id id;         // 0: it has none yet
  bool named;         // by an operation that was posted inside it

  // What is posted on its endpoint, or inside an operation on the whole interface, is the same
  // operation: transports call themselves through their table.
  bool covers(const void* interface, uct_ep_h endpoint) const {
    return busy != nullptr && (busy == endpoint || busy == interface);
  }
};

struct ThreadState {
  Context context;
  Posting posting;  // the innermost operation in progress: what is posted inside is part of it
  std::uint8_t protocol;  // UCP's protocol that is being dispatched (TextKind::ucx_protocol), or 0
  // In this scope, scopes inside it left out: an operation was posted, one found no resources.
  bool posted, refused;
  bool inner_idle;  // the scope that was left last, directly inside this one, did neither
};

extern thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec")));

// Sets the context for a scope and puts the outer one back. What is posted inside is an operation
// of its own even on the busy endpoint: a message to self is handled inside the call that sends it.
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

}  // namespace uctrace::uct

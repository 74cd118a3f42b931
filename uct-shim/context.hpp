// On whose behalf the current thread is inside UCX: the request context that ties UCT operations to
// the UCP operation they serve. Set by UCP calls (ucp-shim), by active message handlers, pending
// dispatch and completion callbacks (here); read when a UCT operation is posted.
// Cost: three stores to enter, three to leave.
#pragma once

#include <uct/api/uct.h>

#include "event-log/records.hpp"

namespace uctrace::uct {

struct Context {
  log::Id origin;
  log::Origin kind;
  log::Route route;
};

class Post;

struct ThreadState {
  Context context;
  Post* posting;  // the innermost operation in progress: what is posted inside is part of it
};

extern thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec")));

// Sets the context for a scope and puts the outer one back. What is posted inside is an operation
// of its own even on the busy endpoint: a message to self is handled inside the call that sends it.
class ContextScope {
 public:
  explicit ContextScope(const Context& inner) : outer_(thread_state) {
    thread_state = {inner, nullptr};
  }
  ~ContextScope() { thread_state = outer_; }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  ThreadState outer_;
};

}  // namespace uctrace::uct

// A plug-in that uses UCP: loaded by a program without UCX in its own scope.
#include "ucp_self.h"

#define PLUGIN __attribute__((visibility("default")))

PLUGIN int use_ucx(void) { return exchange_with_self(); }

// The same in two steps, for callers that do something in between.
static ucp_context_h context;

PLUGIN void begin_ucx(void) { context = open_context(); }

PLUGIN int go_on(void) {
  const struct node node = open_node(context, UCS_THREAD_MODE_SINGLE);
  send_each_size(node);
  close_node(node);
  ucp_cleanup(context);
  return kSizeCount;
}

// For a caller that runs until it is killed (ucp_service.py).
static struct node service;

PLUGIN void open_service(void) { service = open_node(open_context(), UCS_THREAD_MODE_SINGLE); }

// Returns the number of messages.
PLUGIN int serve(void) {
  send_each_size(service);
  return kSizeCount;
}

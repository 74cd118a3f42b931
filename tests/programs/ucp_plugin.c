// A plug-in that uses UCP: what a program loads whose own scope knows nothing of UCX.
#include "ucp_self.h"

#define PLUGIN __attribute__((visibility("default")))

PLUGIN int use_ucp(void) { return exchange_with_self(); }

// For who goes on as long as it lives (ucp_service.py).
static struct node service;

PLUGIN void open_service(void) { service = open_node(open_context(), UCS_THREAD_MODE_SINGLE); }

// Returns the number of messages.
PLUGIN int serve(void) {
  send_each_size(service);
  return kSizeCount;
}

// A worker that sends tag messages to itself, with all contents checked: the smallest use of UCP.
// Uses no function of UCP that ucp_by_handle.c does not know.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

static void finish(ucp_worker_h worker, ucs_status_ptr_t request, const char* what) {
  if (request == NULL) return;
  check(!UCS_PTR_IS_ERR(request), what);
  while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker);
  check(ucp_request_check_status(request) == UCS_OK, what);
  ucp_request_free(request);
}

static void send_to_self(ucp_worker_h worker, ucp_ep_h endpoint, ucp_tag_t tag, size_t bytes) {
  const ucp_request_param_t defaults = {0};
  unsigned char *sent = malloc(bytes), *got = malloc(bytes);
  check(sent != NULL && got != NULL, "malloc");
  memset(sent, (int)(tag * 31 + 7), bytes);
  memset(got, 0, bytes);
  ucs_status_ptr_t receive = ucp_tag_recv_nbx(worker, got, bytes, tag, UINT64_MAX, &defaults);
  finish(worker, ucp_tag_send_nbx(endpoint, sent, bytes, tag, &defaults), "ucp_tag_send_nbx");
  finish(worker, receive, "ucp_tag_recv_nbx");
  check(memcmp(sent, got, bytes) == 0, "comparing contents");
  free(sent);
  free(got);
}

struct node {
  ucp_worker_h worker;
  ucp_ep_h endpoint;  // to itself
};

static struct node open_node(ucp_context_h context, ucs_thread_mode_t mode) {
  const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                      .thread_mode = mode};
  struct node node;
  ucp_address_t* address;
  size_t bytes;
  check(ucp_worker_create(context, &params, &node.worker) == UCS_OK, "ucp_worker_create");
  check(ucp_worker_get_address(node.worker, &address, &bytes) == UCS_OK, "ucp_worker_get_address");
  const ucp_ep_params_t to_self = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                   .address = address};
  check(ucp_ep_create(node.worker, &to_self, &node.endpoint) == UCS_OK, "ucp_ep_create");
  ucp_worker_release_address(node.worker, address);
  return node;
}

static void close_node(struct node node) {
  const ucp_request_param_t defaults = {0};
  finish(node.worker, ucp_ep_close_nbx(node.endpoint, &defaults), "ucp_ep_close_nbx");
  ucp_worker_destroy(node.worker);
}

static ucp_context_h open_context(void) {
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  ucp_context_h context;
  check(ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, NULL, &context) == UCS_OK,
        "ucp_init");
  return context;
}

enum { kSizeCount = 4 };
// One message of each size, with the tags 1, 2, ...
static void send_each_size(struct node node) {
  static const size_t kSizes[kSizeCount] = {1, 100, 8000, 100000};
  for (int i = 0; i < kSizeCount; ++i) {
    send_to_self(node.worker, node.endpoint, (ucp_tag_t)i + 1, kSizes[i]);
  }
}

// Returns the number of messages.
static inline int exchange_with_self(void) {
  ucp_context_h context = open_context();
  const struct node node = open_node(context, UCS_THREAD_MODE_SINGLE);
  send_each_size(node);
  close_node(node);
  ucp_cleanup(context);
  return kSizeCount;
}

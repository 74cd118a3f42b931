// Two processes that watch each other: endpoints with error handling, idle long enough for UCX to
// ask whether the peer is alive, and then closed by force.
//
//     keepalive [SECONDS]
//
// UCX_KEEPALIVE_INTERVAL says how often UCX asks; SECONDS (default 0.2) for how long it may.

#include <time.h>

#include "ucp_pair.h"

static double idle_s = 0.2;

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void on_error(void* argument, ucp_ep_h endpoint, ucs_status_t status) {
  (void)argument, (void)endpoint, (void)status;  // the other side closes, too
}

static ucp_ep_h watch(struct side* side, const ucp_address_t* address) {
  const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                                UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                                UCP_EP_PARAM_FIELD_ERR_HANDLER,
                                  .address = address,
                                  .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                                  .err_handler = {.cb = on_error}};
  ucp_ep_h endpoint;
  check_ucs(ucp_ep_create(side->worker, &params, &endpoint), "ucp_ep_create");
  return endpoint;
}

static void exchange(struct side* side) {
  const ucp_request_param_t defaults = {0};
  unsigned char sent[100] = {1}, got[100];
  ucs_status_ptr_t receive =
      ucp_tag_recv_nbx(side->worker, got, sizeof got, 7, UINT64_MAX, &defaults);
  ucs_status_ptr_t send = ucp_tag_send_nbx(side->to_other, sent, sizeof sent, 7, &defaults);
  finish(side, send, "ucp_tag_send_nbx");
  finish(side, receive, "ucp_tag_recv_nbx");
  check(memcmp(sent, got, sizeof sent) == 0, "comparing contents");
}

static void close_by_force(struct side* side, ucp_ep_h endpoint) {
  const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                     .flags = UCP_EP_CLOSE_FLAG_FORCE};
  ucs_status_ptr_t request = ucp_ep_close_nbx(endpoint, &force);
  if (!UCS_PTR_IS_PTR(request)) return;
  while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(side->worker);
  ucp_request_free(request);
}

static void run_side(struct side* side) {
  open_side_with(side, UCP_FEATURE_TAG, watch);
  exchange(side);
  const double until = now_s() + idle_s;
  while (now_s() < until) ucp_worker_progress(side->worker);
  meet(side);
  close_by_force(side, side->to_other);
  close_by_force(side, side->to_self);
  ucp_worker_destroy(side->worker);
  ucp_cleanup(side->context);
}

int main(int argc, char** argv) {
  if (argc > 1) idle_s = strtod(argv[1], NULL);
  run_pair("keepalive", run_side);
  printf("keepalive: both sides are well\n");
  return 0;
}

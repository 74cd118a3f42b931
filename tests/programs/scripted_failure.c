// Two workers of one process whose connection fails: after messages that arrive, the scripted
// transport is told to let an operation fail, and more are sent. UCX calls the error handler and
// ends whatever was outstanding. The result of each send and receive is printed as one JSON object
// a line.
//
//     scripted_failure SCRIPT

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

#include "../scripted-transport/scripted.h"

enum { kLargest = 200000, kRounds = 2 };
static const size_t kSizes[] = {8, 3000, 12000, 100000, kLargest};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes, kMessages = kRounds * kSizeCount };

struct side {
  ucp_context_h context;
  ucp_worker_h worker;
  ucp_ep_h endpoint;  // to the other side
};
static struct side from, to;
static unsigned handled;  // failures that the handler was told of

static void check(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "scripted_failure: %s failed\n", what);
  exit(1);
}

static void check_ucs(ucs_status_t status, const char* what) {
  if (status == UCS_OK) return;
  fprintf(stderr, "scripted_failure: %s: %s\n", what, ucs_status_string(status));
  exit(1);
}

static void progress(void) {
  ucp_worker_progress(from.worker);
  ucp_worker_progress(to.worker);
}

static void open_side(struct side* side) {
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
  const ucp_worker_params_t worker_params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                             .thread_mode = UCS_THREAD_MODE_SINGLE};
  check_ucs(ucp_init(&params, NULL, &side->context), "ucp_init");
  check_ucs(ucp_worker_create(side->context, &worker_params, &side->worker), "ucp_worker_create");
}

static void on_failure(void* argument, ucp_ep_h endpoint, ucs_status_t status) {
  (void)argument, (void)endpoint, (void)status;
  ++handled;
}

static void connect_side(struct side* side, struct side* other) {
  ucp_address_t* address;
  size_t bytes;
  check_ucs(ucp_worker_get_address(other->worker, &address, &bytes), "ucp_worker_get_address");
  const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                                UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                                UCP_EP_PARAM_FIELD_ERR_HANDLER,
                                  .address = address,
                                  .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                                  .err_handler = {.cb = on_failure}};
  check_ucs(ucp_ep_create(side->worker, &params, &side->endpoint), "ucp_ep_create");
  ucp_worker_release_address(other->worker, address);
}

static int is_open(ucs_status_ptr_t request) {
  return UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS;
}

static ucs_status_t end(ucs_status_ptr_t request) {
  while (is_open(request)) progress();
  if (!UCS_PTR_IS_PTR(request)) return UCS_PTR_STATUS(request);
  const ucs_status_t status = ucp_request_check_status(request);
  ucp_request_free(request);
  return status;
}

static void tell(const char* what, ucp_tag_t tag, size_t bytes, ucs_status_t status) {
  printf("{\"what\":\"%s\",\"tag\":%llu,\"bytes\":%zu,\"status\":%d}\n", what,
         (unsigned long long)tag, bytes, status);
}

static void close_endpoint(struct side* side) {
  const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                     .flags = UCP_EP_CLOSE_FLAG_FORCE};
  if (side->endpoint == NULL) return;
  ucs_status_ptr_t request = ucp_ep_close_nbx(side->endpoint, &force);
  side->endpoint = NULL;
  end(request);
}

// All at once. What is not sent by then ends when the endpoint is closed: if it failed only at the
// far side, the near one is not notified. Outstanding receives are cancelled.
static void exchange(ucp_tag_t first_tag) {
  static unsigned char sent[kLargest], got[kMessages][kLargest];
  const ucp_request_param_t defaults = {0};
  ucs_status_ptr_t sends[kMessages], receives[kMessages];
  ucs_status_t statuses[kMessages];
  memset(sent, (int)first_tag + 1, sizeof sent);
  for (int i = 0; i < kMessages; ++i) {
    receives[i] = ucp_tag_recv_nbx(to.worker, got[i], kLargest, first_tag + (unsigned)i, UINT64_MAX,
                                   &defaults);
    check(!UCS_PTR_IS_ERR(receives[i]), "ucp_tag_recv_nbx");
  }
  for (int i = 0; i < kMessages; ++i) {
    sends[i] = ucp_tag_send_nbx(from.endpoint, sent, kSizes[i % kSizeCount],
                                first_tag + (unsigned)i, &defaults);
  }
  int open = 0;
  for (int calls = 0; calls < 1000; ++calls) progress();
  for (int i = 0; i < kMessages; ++i) open += is_open(sends[i]);
  if (open > 0) close_endpoint(&from);
  for (int i = 0; i < kMessages; ++i) statuses[i] = end(sends[i]);
  for (int i = 0; i < kMessages; ++i) {
    const size_t bytes = kSizes[i % kSizeCount];
    tell("send", first_tag + (unsigned)i, bytes, statuses[i]);
    if (is_open(receives[i])) ucp_request_cancel(to.worker, receives[i]);
    const ucs_status_t status = end(receives[i]);
    if (status == UCS_OK) check(memcmp(got[i], sent, bytes) == 0, "comparing contents");
    tell("receive", first_tag + (unsigned)i, bytes, status);
  }
}

int main(int argc, char** argv) {
  check(argc == 2, "finding the script");
  open_side(&from);
  open_side(&to);
  connect_side(&from, &to);
  connect_side(&to, &from);
  exchange(0);
  scripted_transport_script(argv[1]);
  exchange(1000);
  scripted_transport_script("");
  tell("failures", 0, handled, UCS_OK);
  close_endpoint(&from);
  close_endpoint(&to);
  ucp_worker_destroy(from.worker);
  ucp_worker_destroy(to.worker);
  ucp_cleanup(from.context);
  ucp_cleanup(to.context);
  return 0;
}

// Two processes that send each other and themselves messages of a few sizes, and write what UCX
// itself expects of the endpoints that they use: one JSON object a line.
//
//     ucp_estimates [ENDPOINTS PROCESSES]   what it tells UCX of its job; nothing if not given

#include "ucp_pair.h"

static const size_t kSizes[] = {8, 100, 5000, 300000};
enum { kSizeCount = sizeof kSizes / sizeof *kSizes };
static size_t endpoints, processes;

static double expected_ns(ucp_ep_h endpoint, size_t bytes) {
  const ucp_ep_evaluate_perf_param_t params = {.field_mask = UCP_EP_PERF_PARAM_FIELD_MESSAGE_SIZE,
                                               .message_size = bytes};
  ucp_ep_evaluate_perf_attr_t told = {.field_mask = UCP_EP_PERF_ATTR_FIELD_ESTIMATED_TIME};
  check_ucs(ucp_ep_evaluate_perf(endpoint, &params, &told), "ucp_ep_evaluate_perf");
  return told.estimated_time * 1e9;
}

static void exchange(struct side* side, ucp_ep_h endpoint, const char* reach, size_t bytes) {
  const ucp_request_param_t defaults = {0};
  unsigned char *sent = make_buffer(bytes), *got = make_buffer(bytes);
  ucs_status_ptr_t receive =
      ucp_tag_recv_nbx(side->worker, got, bytes, bytes, UINT64_MAX, &defaults);
  finish(side, ucp_tag_send_nbx(endpoint, sent, bytes, bytes, &defaults), "ucp_tag_send_nbx");
  finish(side, receive, "ucp_tag_recv_nbx");
  free(sent);
  free(got);
  // One write: the other process writes to the same file.
  char line[160];
  const int length = snprintf(line, sizeof line, "{\"reach\":\"%s\",\"bytes\":%zu,\"ns\":%.3f}\n",
                              reach, bytes, expected_ns(endpoint, bytes));
  check(write(STDOUT_FILENO, line, (size_t)length) == length, "write");
}

static void run_side(struct side* side) {
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES |
                                             (endpoints ? UCP_PARAM_FIELD_ESTIMATED_NUM_EPS : 0) |
                                             (processes ? UCP_PARAM_FIELD_ESTIMATED_NUM_PPN : 0),
                               .features = UCP_FEATURE_TAG,
                               .estimated_num_eps = endpoints,
                               .estimated_num_ppn = processes};
  open_side_as(side, &params, connect_to);
  for (int i = 0; i < kSizeCount; ++i) {
    exchange(side, side->to_other, "host", kSizes[i]);
    meet(side);
    exchange(side, side->to_self, "process", kSizes[i]);
    meet(side);
  }
  close_side(side);
}

int main(int count, char** arguments) {
  if (count > 2) {
    endpoints = strtoul(arguments[1], NULL, 10);
    processes = strtoul(arguments[2], NULL, 10);
  }
  run_pair("ucp_estimates", run_side);
  return 0;
}
